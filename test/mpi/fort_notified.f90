! SPDX-License-Identifier: BSD-3-Clause
! fort_notified.f90 - notified access from Fortran: the module of include/mpi-rma-f08.f90.
!
! A ring in one epoch of MPI_Win_lock_all: puts, gets and accumulates that raise notifications, waiting
! for them by call and by request, counters, errors and optional ierror. A failed check prints a line;
! the exit code is 1 on all ranks if one failed.

program fort_notified
    use mpi_f08
    use mpi_rma_f08
    use, intrinsic :: iso_c_binding
    implicit none
    integer, parameter :: cells = 8, rounds = 20, data = 0, free = 1, numbers = 3
    integer :: ierr, me, nprocs, right, left, failed, total, round
    type(MPI_Win) :: win
    type(MPI_Info) :: info
    integer, pointer, asynchronous :: mem(:)
    integer, asynchronous :: value(2), got
    integer(MPI_ADDRESS_KIND), parameter :: first = 0, third = 2, fifth = 4
    integer(MPI_COUNT_KIND), parameter :: one = 1, two = 2
    integer(MPI_COUNT_KIND) :: come
    type(c_ptr) :: base

    failed = 0
    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, nprocs, ierr)
    right = mod(me + 1, nprocs)
    left = mod(me + nprocs - 1, nprocs)
    call MPI_Info_create(info, ierr)
    call MPI_Info_set(info, 'mpirma_notifications', '3', ierr)
    call MPI_Win_allocate(int(4 * cells, MPI_ADDRESS_KIND), 4, info, MPI_COMM_WORLD, base, win, ierr)
    call MPI_Info_free(info, ierr)
    call c_f_pointer(base, mem, [cells])
    mem = 0
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    call MPI_Win_lock_all(0, win, ierr)
    do round = 1, rounds
        call puts()
    end do
    call get_and_accumulate()
    call by_request()
    call tests_and_ranges()
    call counters()
    call errors()
    call MPI_Win_unlock_all(win, ierr)
    call MPI_Win_free(win, ierr)

    call MPI_Allreduce(failed, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    if (me == 0) print '(a,i0,a)', 'fort_notified: ', total, ' failed checks'
    call MPI_Finalize(ierr)
    if (total /= 0) stop 1

contains
    subroutine check(what, expected, seen)
        character(len=*), intent(in) :: what
        integer, intent(in) :: expected, seen
        if (expected /= seen) then
            failed = failed + 1
            print '(a,i0,3a,i0,a,i0)', 'fort_notified: rank ', me, ': ', what, ': expected ', expected, &
                ', saw ', seen
        end if
    end subroutine check

    subroutine check_class(what, expected, code)
        character(len=*), intent(in) :: what
        integer, intent(in) :: expected, code
        integer :: class
        call MPI_Error_class(code, class, ierr)
        call check(what, expected, class)
    end subroutine check_class

    ! Two values to the right; when they have been looked at the left one may go on.
    subroutine puts()
        value = [100 * round + me, -round]
        call MPIRMA_Put_notify(value, 2, MPI_INTEGER, right, third, 2, MPI_INTEGER, win, data, ierr)
        call check_class('put', MPI_SUCCESS, ierr)
        call MPIRMA_Notify_wait(win, left, data, one)
        call check('first value', 100 * round + left, mem(3))
        call check('second value', -round, mem(4))
        call MPIRMA_Put_notify(value, 0, MPI_INTEGER, left, first, 0, MPI_INTEGER, win, free)
        call MPIRMA_Notify_wait(win, MPI_ANY_SOURCE, free, one, ierr)
        call check_class('wait', MPI_SUCCESS, ierr)
        call MPI_Win_flush_local_all(win, ierr)
    end subroutine puts

    ! A scalar as buffer.
    subroutine get_and_accumulate()
        mem(1) = 1000 + me
        call MPI_Win_sync(win, ierr)
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        got = -1
        call MPIRMA_Get_notify(got, 1, MPI_INTEGER, right, first, 1, MPI_INTEGER, win, data, ierr)
        call check_class('get', MPI_SUCCESS, ierr)
        call MPI_Win_flush(right, win, ierr)
        call check('what was read', 1000 + right, got)
        call MPIRMA_Notify_wait(win, left, data, one, ierr)
        got = 7 + me
        call MPIRMA_Accumulate_notify(got, 1, MPI_INTEGER, right, fifth, 1, MPI_INTEGER, MPI_SUM, win, &
            data, ierr)
        call check_class('accumulate', MPI_SUCCESS, ierr)
        call MPIRMA_Notify_wait(win, left, data, one, ierr)
        call check('the sum', 7 + left, mem(5))
        call MPI_Win_flush_local_all(win, ierr)
    end subroutine get_and_accumulate

    subroutine by_request()
        type(MPI_Request) :: request
        integer :: i
        call MPIRMA_Notify_init(win, left, 2, two, request, ierr)
        call check_class('request', MPI_SUCCESS, ierr)
        do i = 1, 3
            call MPI_Start(request, ierr)
            call MPIRMA_Put_notify(value, 0, MPI_INTEGER, right, first, 0, MPI_INTEGER, win, 2)
            call MPIRMA_Put_notify(value, 0, MPI_INTEGER, right, first, 0, MPI_INTEGER, win, 2)
            call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
            call check_class('wait for a request', MPI_SUCCESS, ierr)
        end do
        call MPI_Request_free(request, ierr)
    end subroutine by_request

    ! Number 2, with large counts, found by each of the calls.
    subroutine tests_and_ranges()
        logical :: flag
        integer :: id
        flag = .true.
        call MPIRMA_Notify_test(win, left, 2, one, flag, ierr)
        call check('nothing has come', 0, merge(1, 0, flag))
        call MPIRMA_Notify_reset(win, left, data, come)
        call MPIRMA_Notify_reset(win, left, free, come)
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        value = me
        call MPIRMA_Put_notify(value, one, MPI_INTEGER, right, third, one, MPI_INTEGER, win, 2, ierr)
        call check_class('put of a large count', MPI_SUCCESS, ierr)
        call MPIRMA_Notify_waitany(win, left, data, numbers, one, id, ierr)
        call check('the number', 2, id)
        call check('what was put', left, mem(3))
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        call MPIRMA_Accumulate_notify(value, one, MPI_INTEGER, right, third, one, MPI_INTEGER, MPI_SUM, win, 2)
        flag = .false.
        do while (.not. flag)
            call MPIRMA_Notify_test(win, left, 2, one, flag)
        end do
        call check('the sum', 2 * left, mem(3))
        call MPIRMA_Get_notify(got, one, MPI_INTEGER, right, third, one, MPI_INTEGER, win, 2, ierr)
        flag = .false.
        do while (.not. flag)
            call MPIRMA_Notify_testany(win, left, 1, 2, one, flag, id, ierr)
        end do
        call check('the number of a get', 2, id)
        call MPIRMA_Notify_testany(win, left, 1, 2, one, flag, id, ierr)
        call check('none is left', MPI_UNDEFINED, id)
        call MPI_Win_flush_all(win, ierr)
    end subroutine tests_and_ranges

    subroutine counters()
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        come = -1
        call MPIRMA_Notify_read(win, MPI_ANY_SOURCE, data, come, ierr)
        call check('notifications of all', rounds + 2, int(come))
        call MPIRMA_Notify_reset(win, MPI_ANY_SOURCE, data, come, ierr)
        call check('what was reset', rounds + 2, int(come))
        call MPIRMA_Notify_read(win, MPI_ANY_SOURCE, data, come)
        call check('notifications left', 0, int(come))
    end subroutine counters

    subroutine errors()
        call MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN, ierr)
        come = 77
        call MPIRMA_Notify_read(win, left, numbers, come, ierr)
        call check_class('a number that is none', MPI_ERR_ARG, ierr)
        call MPIRMA_Put_notify(value, 1, MPI_INTEGER, nprocs, first, 1, MPI_INTEGER, win, data, ierr)
        call check_class('a target that is none', MPI_ERR_RANK, ierr)
        call MPIRMA_Notify_wait(win, left, data, -one, ierr)
        call check_class('less than none', MPI_ERR_ARG, ierr)
        call check('what an error leaves alone', 77, int(come))
        call MPIRMA_Put_notify(value, 1, MPI_INTEGER, MPI_PROC_NULL, first, 1, MPI_INTEGER, win, data, ierr)
        call check_class('no target', MPI_SUCCESS, ierr)
    end subroutine errors
end program fort_notified
