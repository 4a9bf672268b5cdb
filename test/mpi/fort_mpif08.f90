! SPDX-License-Identifier: BSD-3-Clause
! fort_mpif08.f90 - windows from Fortran through `use mpi_f08`.
!
! The host's Fortran bindings call PMPI_*, which is where the library stands: put,
! get, accumulate and fetch_and_op under fence, PSCW, lock and lock_all, the
! predefined attributes (MPI 4.1, 12.2.6), a user attribute, the name, info, an
! error class under MPI_ERRORS_RETURN and a Fortran error handler. A failed check
! prints a line; the exit code is 1 on all ranks if one failed.

module fort_mpif08_state
    use mpi_f08
    implicit none
    integer :: failed = 0, me = 0, handler_calls = 0, handler_code = 0
    type(MPI_Win) :: handler_win
contains
    subroutine check(what, expected, seen)
        character(len=*), intent(in) :: what
        integer, intent(in) :: expected, seen
        if (expected /= seen) then
            failed = failed + 1
            print '(a,i0,3a,i0,a,i0)', 'fort_mpif08: rank ', me, ': ', what, ': expected ', expected, &
                ', saw ', seen
        end if
    end subroutine check

    subroutine on_error(win, code)
        type(MPI_Win) :: win
        integer :: code
        handler_calls = handler_calls + 1
        handler_win = win
        handler_code = code
    end subroutine on_error
end module fort_mpif08_state

program fort_mpif08
    use mpi_f08
    use, intrinsic :: iso_c_binding
    use fort_mpif08_state
    implicit none
    integer, parameter :: cells = 8
    integer :: ierr, nprocs, right, left, total
    type(MPI_Win) :: win
    integer, pointer :: shared(:)
    integer, target, asynchronous :: mem(0:cells - 1)
    integer, asynchronous :: scratch
    integer(kind=MPI_ADDRESS_KIND) :: bytes
    logical :: mapped

    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, nprocs, ierr)
    right = mod(me + 1, nprocs)
    left = mod(me + nprocs - 1, nprocs)
    bytes = 4 * cells
    mem = 0

    call make_window()
    call fences()
    call start_complete()
    call locks()
    call attributes()
    call names_and_info()
    call errors()
    call MPI_Win_free(win, ierr)
    call check('MPI_WIN_NULL after free', 1, merge(1, 0, win == MPI_WIN_NULL))

    call MPI_Allreduce(failed, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    if (me == 0) print '(a,i0,a)', 'fort_mpif08: ', total, ' failed checks'
    call MPI_Finalize(ierr)
    if (total /= 0) stop 1

contains
    ! An array of the program, except where only shared memory will do.
    subroutine make_window()
        character(len=16) :: path
        type(c_ptr) :: base

        call get_environment_variable('MPIRMA_PATH', path)
        mapped = path == 'mapped'
        if (mapped) then
            call MPI_Win_allocate(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, win, ierr)
            call check('MPI_Win_allocate', MPI_SUCCESS, ierr)
            call c_f_pointer(base, shared, [cells])
            shared = 0
            call MPI_Barrier(MPI_COMM_WORLD, ierr)
        else
            call MPI_Win_create(mem, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr)
            call check('MPI_Win_create', MPI_SUCCESS, ierr)
        end if
    end subroutine make_window

    ! What this process's part of the window holds.
    integer function own(index)
        integer, intent(in) :: index

        call MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win, ierr)
        call MPI_Get(scratch, 1, MPI_INTEGER, me, int(index, MPI_ADDRESS_KIND), 1, MPI_INTEGER, win, ierr)
        call MPI_Win_unlock(me, win, ierr)
        own = scratch
    end function own

    subroutine fences()
        integer, asynchronous :: value, got
        integer(kind=MPI_ADDRESS_KIND) :: at

        at = 0
        value = 100 + me
        got = -1
        call MPI_Win_fence(0, win, ierr)
        call MPI_Put(value, 1, MPI_INTEGER, right, at, 1, MPI_INTEGER, win, ierr)
        call check('put', MPI_SUCCESS, ierr)
        call MPI_Win_fence(0, win, ierr)
        call MPI_Get(got, 1, MPI_INTEGER, right, at, 1, MPI_INTEGER, win, ierr)
        call MPI_Win_fence(MPI_MODE_NOSUCCEED, win, ierr)
        call check('fence', MPI_SUCCESS, ierr)
        call check('what was put', 100 + left, own(0))
        call check('what was got', 100 + me, got)
    end subroutine fences

    subroutine start_complete()
        type(MPI_Group) :: all, to, from
        integer :: one_rank(1)
        integer, asynchronous :: value
        integer(kind=MPI_ADDRESS_KIND) :: at

        at = 1
        value = 200 + me
        call MPI_Win_get_group(win, all, ierr)
        one_rank(1) = right
        call MPI_Group_incl(all, 1, one_rank, to, ierr)
        one_rank(1) = left
        call MPI_Group_incl(all, 1, one_rank, from, ierr)
        call MPI_Win_post(from, 0, win, ierr)
        call MPI_Win_start(to, 0, win, ierr)
        call MPI_Put(value, 1, MPI_INTEGER, right, at, 1, MPI_INTEGER, win, ierr)
        call MPI_Win_complete(win, ierr)
        call check('complete', MPI_SUCCESS, ierr)
        call MPI_Win_wait(win, ierr)
        call check('wait', MPI_SUCCESS, ierr)
        call check('PSCW', 200 + left, own(1))
        call MPI_Group_free(all, ierr)
        call MPI_Group_free(to, ierr)
        call MPI_Group_free(from, ierr)
    end subroutine start_complete

    subroutine locks()
        integer, asynchronous :: one, old
        type(MPI_Request) :: request
        integer(kind=MPI_ADDRESS_KIND) :: at

        one = 1
        old = -1
        at = 2
        call MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win, ierr)
        call MPI_Accumulate(one, 1, MPI_INTEGER, 0, at, 1, MPI_INTEGER, MPI_SUM, win, ierr)
        call MPI_Win_unlock(0, win, ierr)
        call check('unlock', MPI_SUCCESS, ierr)
        at = 3
        call MPI_Win_lock_all(0, win, ierr)
        call MPI_Fetch_and_op(one, old, MPI_INTEGER, 0, at, MPI_SUM, win, ierr)
        call MPI_Win_flush(0, win, ierr)
        at = 4
        call MPI_Rput(one, 1, MPI_INTEGER, right, at, 1, MPI_INTEGER, win, request, ierr)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
        call check('wait for rput', MPI_SUCCESS, ierr)
        call MPI_Win_unlock_all(win, ierr)
        call check('unlock_all', MPI_SUCCESS, ierr)
        if (old < 0 .or. old >= nprocs) call check('fetch_and_op in range', 0, old)
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        call check('rput', 1, own(4))
        if (me == 0) then
            call check('accumulate', nprocs, own(2))
            call check('fetch_and_op', nprocs, own(3))
        end if
    end subroutine locks

    subroutine attributes()
        integer(kind=MPI_ADDRESS_KIND) :: attribute, extra, address
        logical :: flag
        integer :: key

        call MPI_Win_get_attr(win, MPI_WIN_SIZE, attribute, flag, ierr)
        call check('MPI_WIN_SIZE', 4 * cells, int(attribute))
        call MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, attribute, flag, ierr)
        call check('MPI_WIN_DISP_UNIT', 4, int(attribute))
        call MPI_Win_get_attr(win, MPI_WIN_MODEL, attribute, flag, ierr)
        call check('MPI_WIN_MODEL', MPI_WIN_UNIFIED, int(attribute))
        call MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, attribute, flag, ierr)
        if (mapped) then
            call check('MPI_WIN_CREATE_FLAVOR', MPI_WIN_FLAVOR_ALLOCATE, int(attribute))
        else
            call check('MPI_WIN_CREATE_FLAVOR', MPI_WIN_FLAVOR_CREATE, int(attribute))
            call MPI_Win_get_attr(win, MPI_WIN_BASE, attribute, flag, ierr)
            call MPI_Get_address(mem, address, ierr)
            if (attribute /= address) call check('MPI_WIN_BASE differs', 0, 1)
        end if
        extra = 0
        call MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, key, extra, ierr)
        call check('create_keyval', MPI_SUCCESS, ierr)
        attribute = 4711
        call MPI_Win_set_attr(win, key, attribute, ierr)
        attribute = 0
        call MPI_Win_get_attr(win, key, attribute, flag, ierr)
        call check('user attribute', 4711, int(attribute))
        call MPI_Win_delete_attr(win, key, ierr)
        call MPI_Win_get_attr(win, key, attribute, flag, ierr)
        if (flag) call check('user attribute after delete', 0, 1)
        call MPI_Win_free_keyval(key, ierr)
    end subroutine attributes

    subroutine names_and_info()
        character(len=MPI_MAX_OBJECT_NAME) :: name
        character(len=MPI_MAX_INFO_VAL) :: hint
        integer :: length
        type(MPI_Info) :: info
        logical :: flag

        call MPI_Win_set_name(win, 'rows of the torus', ierr)
        call MPI_Win_get_name(win, name, length, ierr)
        call check('length of the name', 17, length)
        ! Its text is checked by fort_mpi and fort_mpifh: Open MPI's mpi_f08 binding gives back one
        ! character of it (4.1.4) or none (5.0.7), also without the library.
        call MPI_Win_get_info(win, info, ierr)
        call MPI_Info_get(info, 'no_locks', MPI_MAX_INFO_VAL, hint, flag, ierr)
        if (.not. flag .or. hint /= 'false') call check('no_locks is not false', 0, 1)
        call MPI_Info_free(info, ierr)
    end subroutine names_and_info

    subroutine errors()
        integer :: class, ignored, length
        character(len=MPI_MAX_ERROR_STRING) :: text
        character(len=*), parameter :: said = &
            'MPI_Win_unlock: MPI_ERR_RMA_SYNC: rank = '
        type(MPI_Errhandler) :: handler

        call MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN, ierr)
        call MPI_Win_unlock(right, win, ierr)
        call MPI_Error_class(ierr, class, ignored)
        call check('unlock without lock', MPI_ERR_RMA_SYNC, class)
        call MPI_Error_string(ierr, text, length, ignored)
        call check('its text', 1, index(text, said))

        call MPI_Win_create_errhandler(on_error, handler, ierr)
        call MPI_Win_set_errhandler(win, handler, ierr)
        call MPI_Errhandler_free(handler, ierr)
        call MPI_Win_complete(win, ierr)
        call check('calls of the Fortran handler', 1, handler_calls)
        call check('its window', 1, merge(1, 0, win == handler_win))
        call MPI_Error_class(handler_code, class, ignored)
        call check('its error class', MPI_ERR_RMA_SYNC, class)
        call MPI_Win_call_errhandler(win, MPI_ERR_OTHER, ierr)
        call check('call_errhandler', 2, handler_calls)
        call check('its code', MPI_ERR_OTHER, handler_code)
        call MPI_Win_set_errhandler(win, MPI_ERRORS_ARE_FATAL, ierr)
    end subroutine errors
end program fort_mpif08
