! SPDX-License-Identifier: BSD-3-Clause
! mpi-rma-f08.f90 - module mpi_rma_f08: notified access and regions of libmpi-rma for programs that use mpi_f08.
!
! What the procedures do is said in mpi-rma.h, doc/notified.md and doc/traces.md; their arguments are those of the C
! functions in the form of mpi_f08, with ierror optional at the end. A module file belongs to one
! compiler and one mpi_f08, so this file is compiled together with the program that uses it:
!
!     mpifort mpi-rma-f08.f90 program.f90 -lmpi-rma
!
! Buffers are passed by address, so that a part of an array must be contiguous; MPI_BOTTOM is not
! taken. Blanks at the end of a region's name do not count. C programs may call MPIRMA_Notify_reset without a place for the count; here there always is one.

module mpi_rma_f08
    use mpi_f08, only: MPI_Win, MPI_Datatype, MPI_Op, MPI_Request, MPI_ADDRESS_KIND, MPI_COUNT_KIND
    use, intrinsic :: iso_c_binding, only: c_char, c_int, c_int64_t, c_intptr_t, c_null_char
    implicit none
    private
    integer, parameter, public :: MPIRMA_MAX_NOTIFICATIONS = 64
    public :: MPIRMA_Put_notify, MPIRMA_Get_notify, MPIRMA_Accumulate_notify
    public :: MPIRMA_Notify_read, MPIRMA_Notify_reset, MPIRMA_Notify_init
    public :: MPIRMA_Notify_wait, MPIRMA_Notify_test, MPIRMA_Notify_waitany, MPIRMA_Notify_testany
    integer, parameter, public :: MPIRMA_MAX_REGION_NAME = 128
    public :: MPIRMA_Region_begin, MPIRMA_Region_end

    interface
        function c_region_begin(name) bind(C, name='MPIRMA_Region_begin') result(code)
            import :: c_char, c_int
            character(kind=c_char), dimension(*), intent(in) :: name
            integer(c_int) :: code
        end function
        function c_region_end() bind(C, name='MPIRMA_Region_end') result(code)
            import :: c_int
            integer(c_int) :: code
        end function
        function c_put_notify(origin_addr, count, datatype, target, disp, target_count, target_datatype, &
                win, notification_id) bind(C, name='MPIRMA_Put_notify_f') result(code)
            import :: c_int, c_int64_t, c_intptr_t
            !DIR$ IGNORE_TKR origin_addr
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_addr
            type(*), dimension(*), intent(in), asynchronous :: origin_addr
            integer(c_int64_t), value :: count, target_count
            integer(c_int), value :: datatype, target, target_datatype, win, notification_id
            integer(c_intptr_t), value :: disp
            integer(c_int) :: code
        end function
        function c_get_notify(origin_addr, count, datatype, target, disp, target_count, target_datatype, &
                win, notification_id) bind(C, name='MPIRMA_Get_notify_f') result(code)
            import :: c_int, c_int64_t, c_intptr_t
            !DIR$ IGNORE_TKR origin_addr
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_addr
            type(*), dimension(*), asynchronous :: origin_addr
            integer(c_int64_t), value :: count, target_count
            integer(c_int), value :: datatype, target, target_datatype, win, notification_id
            integer(c_intptr_t), value :: disp
            integer(c_int) :: code
        end function
        function c_accumulate_notify(origin_addr, count, datatype, target, disp, target_count, target_datatype, op, &
                win, notification_id) bind(C, name='MPIRMA_Accumulate_notify_f') result(code)
            import :: c_int, c_int64_t, c_intptr_t
            !DIR$ IGNORE_TKR origin_addr
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_addr
            type(*), dimension(*), intent(in), asynchronous :: origin_addr
            integer(c_int64_t), value :: count, target_count
            integer(c_int), value :: datatype, target, target_datatype, op, win, notification_id
            integer(c_intptr_t), value :: disp
            integer(c_int) :: code
        end function
        function c_notify_read(win, source, notification_id, value) bind(C, name='MPIRMA_Notify_read_f') result(code)
            import :: c_int, c_int64_t
            integer(c_int), value :: win, source, notification_id
            integer(c_int64_t), intent(inout) :: value
            integer(c_int) :: code
        end function
        function c_notify_reset(win, source, notification_id, value) bind(C, name='MPIRMA_Notify_reset_f') result(code)
            import :: c_int, c_int64_t
            integer(c_int), value :: win, source, notification_id
            integer(c_int64_t), intent(inout) :: value
            integer(c_int) :: code
        end function
        function c_notify_wait(win, source, notification_id, count) bind(C, name='MPIRMA_Notify_wait_f') result(code)
            import :: c_int, c_int64_t
            integer(c_int), value :: win, source, notification_id
            integer(c_int64_t), value :: count
            integer(c_int) :: code
        end function
        function c_notify_test(win, source, notification_id, count, flag) bind(C, name='MPIRMA_Notify_test_f') &
                result(code)
            import :: c_int, c_int64_t
            integer(c_int), value :: win, source, notification_id
            integer(c_int64_t), value :: count
            integer(c_int), intent(inout) :: flag
            integer(c_int) :: code
        end function
        function c_notify_waitany(win, source, first_id, num_ids, count, notification_id) &
                bind(C, name='MPIRMA_Notify_waitany_f') result(code)
            import :: c_int, c_int64_t
            integer(c_int), value :: win, source, first_id, num_ids
            integer(c_int64_t), value :: count
            integer(c_int), intent(inout) :: notification_id
            integer(c_int) :: code
        end function
        function c_notify_testany(win, source, first_id, num_ids, count, flag, notification_id) &
                bind(C, name='MPIRMA_Notify_testany_f') result(code)
            import :: c_int, c_int64_t
            integer(c_int), value :: win, source, first_id, num_ids
            integer(c_int64_t), value :: count
            integer(c_int), intent(inout) :: flag, notification_id
            integer(c_int) :: code
        end function
        function c_notify_init(win, source, notification_id, count, request) bind(C, name='MPIRMA_Notify_init_f') &
                result(code)
            import :: c_int, c_int64_t
            integer(c_int), value :: win, source, notification_id
            integer(c_int64_t), value :: count
            integer(c_int), intent(inout) :: request
            integer(c_int) :: code
        end function
    end interface

    ! The counts of both are default integers, or both of kind MPI_COUNT_KIND.
    interface MPIRMA_Put_notify
        module procedure put_notify, put_notify_c
    end interface
    interface MPIRMA_Get_notify
        module procedure get_notify, get_notify_c
    end interface
    interface MPIRMA_Accumulate_notify
        module procedure accumulate_notify, accumulate_notify_c
    end interface

contains

    subroutine put_notify(origin_addr, origin_count, origin_datatype, target_rank, target_disp, &
            target_count, target_datatype, win, notification_id, ierror)
        !DIR$ IGNORE_TKR origin_addr
        !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_addr
        type(*), dimension(*), intent(in), asynchronous :: origin_addr
        integer, intent(in) :: origin_count, target_count
        integer, intent(in) :: target_rank, notification_id
        type(MPI_Datatype), intent(in) :: origin_datatype, target_datatype
        integer(MPI_ADDRESS_KIND), intent(in) :: target_disp
        type(MPI_Win), intent(in) :: win
        integer, optional, intent(out) :: ierror
        integer :: code

        code = c_put_notify(origin_addr, int(origin_count, c_int64_t), origin_datatype%MPI_VAL, target_rank, &
            target_disp, int(target_count, c_int64_t), target_datatype%MPI_VAL, win%MPI_VAL, notification_id)
        if (present(ierror)) ierror = code
    end subroutine put_notify

    subroutine put_notify_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp, &
            target_count, target_datatype, win, notification_id, ierror)
        !DIR$ IGNORE_TKR origin_addr
        !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_addr
        type(*), dimension(*), intent(in), asynchronous :: origin_addr
        integer(MPI_COUNT_KIND), intent(in) :: origin_count, target_count
        integer, intent(in) :: target_rank, notification_id
        type(MPI_Datatype), intent(in) :: origin_datatype, target_datatype
        integer(MPI_ADDRESS_KIND), intent(in) :: target_disp
        type(MPI_Win), intent(in) :: win
        integer, optional, intent(out) :: ierror
        integer :: code

        code = c_put_notify(origin_addr, int(origin_count, c_int64_t), origin_datatype%MPI_VAL, target_rank, &
            target_disp, int(target_count, c_int64_t), target_datatype%MPI_VAL, win%MPI_VAL, notification_id)
        if (present(ierror)) ierror = code
    end subroutine put_notify_c

    subroutine get_notify(origin_addr, origin_count, origin_datatype, target_rank, target_disp, &
            target_count, target_datatype, win, notification_id, ierror)
        !DIR$ IGNORE_TKR origin_addr
        !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_addr
        type(*), dimension(*), asynchronous :: origin_addr
        integer, intent(in) :: origin_count, target_count
        integer, intent(in) :: target_rank, notification_id
        type(MPI_Datatype), intent(in) :: origin_datatype, target_datatype
        integer(MPI_ADDRESS_KIND), intent(in) :: target_disp
        type(MPI_Win), intent(in) :: win
        integer, optional, intent(out) :: ierror
        integer :: code

        code = c_get_notify(origin_addr, int(origin_count, c_int64_t), origin_datatype%MPI_VAL, target_rank, &
            target_disp, int(target_count, c_int64_t), target_datatype%MPI_VAL, win%MPI_VAL, notification_id)
        if (present(ierror)) ierror = code
    end subroutine get_notify

    subroutine get_notify_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp, &
            target_count, target_datatype, win, notification_id, ierror)
        !DIR$ IGNORE_TKR origin_addr
        !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_addr
        type(*), dimension(*), asynchronous :: origin_addr
        integer(MPI_COUNT_KIND), intent(in) :: origin_count, target_count
        integer, intent(in) :: target_rank, notification_id
        type(MPI_Datatype), intent(in) :: origin_datatype, target_datatype
        integer(MPI_ADDRESS_KIND), intent(in) :: target_disp
        type(MPI_Win), intent(in) :: win
        integer, optional, intent(out) :: ierror
        integer :: code

        code = c_get_notify(origin_addr, int(origin_count, c_int64_t), origin_datatype%MPI_VAL, target_rank, &
            target_disp, int(target_count, c_int64_t), target_datatype%MPI_VAL, win%MPI_VAL, notification_id)
        if (present(ierror)) ierror = code
    end subroutine get_notify_c

    subroutine accumulate_notify(origin_addr, origin_count, origin_datatype, target_rank, target_disp, &
            target_count, target_datatype, op, win, notification_id, ierror)
        !DIR$ IGNORE_TKR origin_addr
        !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_addr
        type(*), dimension(*), intent(in), asynchronous :: origin_addr
        integer, intent(in) :: origin_count, target_count
        integer, intent(in) :: target_rank, notification_id
        type(MPI_Datatype), intent(in) :: origin_datatype, target_datatype
        integer(MPI_ADDRESS_KIND), intent(in) :: target_disp
        type(MPI_Op), intent(in) :: op
        type(MPI_Win), intent(in) :: win
        integer, optional, intent(out) :: ierror
        integer :: code

        code = c_accumulate_notify(origin_addr, int(origin_count, c_int64_t), origin_datatype%MPI_VAL, target_rank, &
            target_disp, int(target_count, c_int64_t), target_datatype%MPI_VAL, op%MPI_VAL, win%MPI_VAL, notification_id)
        if (present(ierror)) ierror = code
    end subroutine accumulate_notify

    subroutine accumulate_notify_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp, &
            target_count, target_datatype, op, win, notification_id, ierror)
        !DIR$ IGNORE_TKR origin_addr
        !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_addr
        type(*), dimension(*), intent(in), asynchronous :: origin_addr
        integer(MPI_COUNT_KIND), intent(in) :: origin_count, target_count
        integer, intent(in) :: target_rank, notification_id
        type(MPI_Datatype), intent(in) :: origin_datatype, target_datatype
        integer(MPI_ADDRESS_KIND), intent(in) :: target_disp
        type(MPI_Op), intent(in) :: op
        type(MPI_Win), intent(in) :: win
        integer, optional, intent(out) :: ierror
        integer :: code

        code = c_accumulate_notify(origin_addr, int(origin_count, c_int64_t), origin_datatype%MPI_VAL, target_rank, &
            target_disp, int(target_count, c_int64_t), target_datatype%MPI_VAL, op%MPI_VAL, win%MPI_VAL, notification_id)
        if (present(ierror)) ierror = code
    end subroutine accumulate_notify_c

    subroutine MPIRMA_Notify_read(win, source, notification_id, value, ierror)
        type(MPI_Win), intent(in) :: win
        integer, intent(in) :: source, notification_id
        integer(MPI_COUNT_KIND), intent(inout) :: value ! as it was after an error
        integer, optional, intent(out) :: ierror
        integer :: code

        code = c_notify_read(win%MPI_VAL, source, notification_id, value)
        if (present(ierror)) ierror = code
    end subroutine MPIRMA_Notify_read

    subroutine MPIRMA_Notify_reset(win, source, notification_id, value, ierror)
        type(MPI_Win), intent(in) :: win
        integer, intent(in) :: source, notification_id
        integer(MPI_COUNT_KIND), intent(inout) :: value ! as it was after an error
        integer, optional, intent(out) :: ierror
        integer :: code

        code = c_notify_reset(win%MPI_VAL, source, notification_id, value)
        if (present(ierror)) ierror = code
    end subroutine MPIRMA_Notify_reset

    subroutine MPIRMA_Notify_wait(win, source, notification_id, count, ierror)
        type(MPI_Win), intent(in) :: win
        integer, intent(in) :: source, notification_id
        integer(MPI_COUNT_KIND), intent(in) :: count
        integer, optional, intent(out) :: ierror
        integer :: code

        code = c_notify_wait(win%MPI_VAL, source, notification_id, count)
        if (present(ierror)) ierror = code
    end subroutine MPIRMA_Notify_wait

    subroutine MPIRMA_Notify_test(win, source, notification_id, count, flag, ierror)
        type(MPI_Win), intent(in) :: win
        integer, intent(in) :: source, notification_id
        integer(MPI_COUNT_KIND), intent(in) :: count
        logical, intent(inout) :: flag ! as it was after an error
        integer, optional, intent(out) :: ierror
        integer :: code, set

        set = merge(1, 0, flag)
        code = c_notify_test(win%MPI_VAL, source, notification_id, count, set)
        flag = set /= 0
        if (present(ierror)) ierror = code
    end subroutine MPIRMA_Notify_test

    subroutine MPIRMA_Notify_waitany(win, source, first_id, num_ids, count, notification_id, ierror)
        type(MPI_Win), intent(in) :: win
        integer, intent(in) :: source, first_id, num_ids
        integer(MPI_COUNT_KIND), intent(in) :: count
        integer, intent(inout) :: notification_id ! as it was after an error
        integer, optional, intent(out) :: ierror
        integer :: code

        code = c_notify_waitany(win%MPI_VAL, source, first_id, num_ids, count, notification_id)
        if (present(ierror)) ierror = code
    end subroutine MPIRMA_Notify_waitany

    subroutine MPIRMA_Notify_testany(win, source, first_id, num_ids, count, flag, notification_id, ierror)
        type(MPI_Win), intent(in) :: win
        integer, intent(in) :: source, first_id, num_ids
        integer(MPI_COUNT_KIND), intent(in) :: count
        logical, intent(inout) :: flag ! as it was after an error
        integer, intent(inout) :: notification_id
        integer, optional, intent(out) :: ierror
        integer :: code, set

        set = merge(1, 0, flag)
        code = c_notify_testany(win%MPI_VAL, source, first_id, num_ids, count, set, notification_id)
        flag = set /= 0
        if (present(ierror)) ierror = code
    end subroutine MPIRMA_Notify_testany

    subroutine MPIRMA_Notify_init(win, source, notification_id, count, request, ierror)
        type(MPI_Win), intent(in) :: win
        integer, intent(in) :: source, notification_id
        integer(MPI_COUNT_KIND), intent(in) :: count
        type(MPI_Request), intent(inout) :: request ! as it was after an error
        integer, optional, intent(out) :: ierror
        integer :: code

        code = c_notify_init(win%MPI_VAL, source, notification_id, count, request%MPI_VAL)
        if (present(ierror)) ierror = code
    end subroutine MPIRMA_Notify_init

    subroutine MPIRMA_Region_begin(name, ierror)
        character(len=*), intent(in) :: name
        integer, optional, intent(out) :: ierror
        integer :: code

        code = c_region_begin(trim(name)//c_null_char)
        if (present(ierror)) ierror = code
    end subroutine MPIRMA_Region_begin

    subroutine MPIRMA_Region_end(ierror)
        integer, optional, intent(out) :: ierror
        integer :: code

        code = c_region_end()
        if (present(ierror)) ierror = code
    end subroutine MPIRMA_Region_end

end module mpi_rma_f08
