/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * list.h - intrusive doubly linked list.
 *
 * A struct list is a ring through its own head; an element embeds a struct list_node and is in at
 * most one list through it. A node that is in no list has next == NULL once it went through
 * list_remove or list_node_init, so one comparison tells whether a node is queued. Nothing is
 * allocated; no locks: the owner of the list guards it. All operations but the walks take constant
 * time.
 */
#ifndef MRMA_BASE_LIST_H
#define MRMA_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct list_node {
    struct list_node *next;
    struct list_node *prev;
};

struct list {
    struct list_node head;
};

/* The element of the given type whose member is node. */
#define LIST_ENTRY(node, type, member) ((type *)(void *)((char *)(node)-offsetof(type, member)))

/* Walks; LIST_EACH_SAFE allows the current node to be removed (and freed). */
#define LIST_EACH(node, list) \
    for (struct list_node *node = (list)->head.next; node != &(list)->head; node = node->next)
#define LIST_EACH_SAFE(node, list)                                               \
    for (struct list_node *node = (list)->head.next, *node##_after = node->next; \
         node != &(list)->head; node = node##_after, node##_after = node->next)

/* list_init makes *list an empty list. */
static inline void list_init(struct list *list)
{
    list->head.next = list->head.prev = &list->head;
}

/* list_node_init makes *node a node that is in no list. A node that is all zero is one already. */
static inline void list_node_init(struct list_node *node)
{
    node->next = node->prev = NULL;
}

/* list_node_queued returns whether the node is in a list. */
static inline bool list_node_queued(const struct list_node *node)
{
    return node->next != NULL;
}

/* list_empty returns whether the list has no node. */
static inline bool list_empty(const struct list *list)
{
    return list->head.next == &list->head;
}

/* list_insert_after puts node behind where, which is a node of the list or the list's head. */
static inline void list_insert_after(struct list_node *where, struct list_node *node)
{
    node->prev = where;
    node->next = where->next;
    where->next->prev = node;
    where->next = node;
}

/* list_push_front puts node, which is in no list, before all others. */
static inline void list_push_front(struct list *list, struct list_node *node)
{
    list_insert_after(&list->head, node);
}

/* list_push_back puts node, which is in no list, behind all others. */
static inline void list_push_back(struct list *list, struct list_node *node)
{
    list_insert_after(list->head.prev, node);
}

/* list_remove takes node out of the list that it is in. */
static inline void list_remove(struct list_node *node)
{
    node->prev->next = node->next;
    node->next->prev = node->prev;
    list_node_init(node);
}

/* list_first returns the first node, which stays in the list; NULL: the list is empty. */
static inline struct list_node *list_first(const struct list *list)
{
    return list_empty(list) ? NULL : list->head.next;
}

/* list_last returns the last node, which stays in the list; NULL: the list is empty. */
static inline struct list_node *list_last(const struct list *list)
{
    return list_empty(list) ? NULL : list->head.prev;
}

/* list_next returns the node behind this one; NULL: it is the last. */
static inline struct list_node *list_next(const struct list *list, const struct list_node *node)
{
    return node->next == &list->head ? NULL : node->next;
}

/* list_prev returns the node before this one; NULL: it is the first. */
static inline struct list_node *list_prev(const struct list *list, const struct list_node *node)
{
    return node->prev == &list->head ? NULL : node->prev;
}

/* list_pop_front takes the first node out of the list and returns it; NULL: the list is empty. */
static inline struct list_node *list_pop_front(struct list *list)
{
    struct list_node *node = list_first(list);
    if (node != NULL)
        list_remove(node);
    return node;
}

#endif
