/*
 * pscw.h - the epochs of MPI_Win_start and MPI_Win_post, for others to look at. See pscw.c.
 */
#ifndef MRMA_RMA_SYNC_PSCW_H
#define MRMA_RMA_SYNC_PSCW_H

struct win;
struct win_group;

/* The ranks that the last MPI_Win_start and the last MPI_Win_post have named. The window's. */
const struct win_group *pscw_access(const struct win *w);
const struct win_group *pscw_exposure(const struct win *w);

/* The window ends. */
void pscw_fini(struct win *w);

#endif
