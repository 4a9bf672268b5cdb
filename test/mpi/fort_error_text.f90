! SPDX-License-Identifier: BSD-3-Clause
! fort_error_text.f90 - the mistakes of error_text.c through `use mpi_f08`, under the same names: what MPI_Error_string says of
! each is printed in the same form, and error_text.sh compares it with the same file.
!
! Two processes. Arguments: the names of the mistakes to make, all by default. Left out are those that Fortran cannot make, since
! it has no null pointer for a result.

module fort_error_text_state
    use mpi_f08
    use, intrinsic :: iso_c_binding
    implicit none
    integer, parameter :: odd = ishft(1, 28) ! no assert has this bit
    integer, parameter :: aint = MPI_ADDRESS_KIND
    integer :: rank
    type(MPI_Win) :: win, dynamic, alone
    type(MPI_Group) :: all, none, self
    type(MPI_Datatype) :: raw, pair, vector, mixed
    type(MPI_Op) :: mine
    integer, target, asynchronous :: x(64), y(64), z(64)
    double precision, asynchronous :: d(8)
    integer, pointer, asynchronous :: nowhere(:)
contains
    subroutine sum_ints(invec, inoutvec, n, type)
        type(c_ptr), value :: invec, inoutvec
        integer :: n
        type(MPI_Datatype) :: type
        integer, pointer :: a(:), b(:)
        if (type == MPI_DATATYPE_NULL) return
        call c_f_pointer(invec, a, [n])
        call c_f_pointer(inoutvec, b, [n])
        b = a + b
    end subroutine sum_ints

    subroutine returns(w)
        type(MPI_Win), intent(in) :: w
        call MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN)
    end subroutine returns

    subroutine prepare()
        type(c_ptr) :: base
        type(MPI_Datatype) :: parts(2)

        call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
        call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
        call MPI_Comm_rank(MPI_COMM_WORLD, rank)
        call MPI_Win_allocate(64_aint, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, win)
        call MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, dynamic)
        call MPI_Win_allocate(64_aint, 4, MPI_INFO_NULL, MPI_COMM_SELF, base, alone)
        call returns(win)
        call returns(dynamic)
        call returns(alone)
        call MPI_Win_set_name(win, 'halo')
        call MPI_Win_attach(dynamic, x, 256_aint)
        call MPI_Comm_group(MPI_COMM_WORLD, all)
        call MPI_Comm_group(MPI_COMM_SELF, self)
        call MPI_Group_incl(all, 0, [0], none)
        call MPI_Type_contiguous(2, MPI_INTEGER, raw)
        call MPI_Type_contiguous(2, MPI_INTEGER, pair)
        call MPI_Type_vector(3, 1, 8, MPI_INTEGER, vector)
        parts(1) = MPI_INTEGER
        parts(2) = MPI_DOUBLE_PRECISION
        call MPI_Type_create_struct(2, [1, 1], [0_aint, 8_aint], parts, mixed)
        call MPI_Type_commit(pair)
        call MPI_Type_commit(vector)
        call MPI_Type_commit(mixed)
        call MPI_Op_create(sum_ints, .true., mine)
        call c_f_pointer(c_null_ptr, nowhere, [64])
    end subroutine prepare

    subroutine say(name, code)
        character(len=*), intent(in) :: name
        integer, intent(in) :: code
        character(len=MPI_MAX_ERROR_STRING) :: text
        character(len=30) :: ending
        integer :: length, class, of_class, i

        if (code == MPI_SUCCESS) then
            print '(3a)', name, achar(9), 'no error'
            return
        end if
        call MPI_Error_string(code, text, length)
        call MPI_Error_class(code, class)
        call MPI_Error_class(class, of_class)
        do i = 1, length
            if (text(i:i) == achar(10)) text(i:i) = '|'
        end do
        ending = ''
        if (length >= MPI_MAX_ERROR_STRING - 1) ending = '...'
        if (class /= of_class) ending = trim(ending)//' (and its class is none)'
        print '(4a)', name, achar(9), text(:length), trim(ending)
    end subroutine say

    logical function asked(name)
        character(len=*), intent(in) :: name
        character(len=64) :: argument
        integer :: i

        asked = command_argument_count() == 0
        do i = 1, command_argument_count()
            call get_command_argument(i, argument)
            asked = asked .or. argument == name
        end do
    end function asked
end module fort_error_text_state

! Operations with target 0, and synchronization, in an epoch of MPI_Win_lock of target 0.
subroutine in_lock(name, ierr)
    use fort_error_text_state
    implicit none
    character(len=*), intent(in) :: name
    integer, intent(inout) :: ierr
    type(MPI_Request) :: req
    type(MPI_Win) :: same
    integer(aint), parameter :: at0 = 0, at15 = 15, at16 = 16

    call MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win)
    select case (name)
    case ('put_origin_count')
        call MPI_Put(x, -1, MPI_INTEGER, 0, at0, 1, MPI_INTEGER, win, ierr)
    case ('put_target_count')
        call MPI_Put(x, 1, MPI_INTEGER, 0, at0, -7, MPI_INTEGER, win, ierr)
    case ('get_origin_count')
        call MPI_Get(x, -1, MPI_INTEGER, 0, at0, 1, MPI_INTEGER, win, ierr)
    case ('accumulate_target_count')
        call MPI_Accumulate(x, 1, MPI_INTEGER, 0, at0, -1, MPI_INTEGER, MPI_SUM, win, ierr)
    case ('get_accumulate_result_count')
        call MPI_Get_accumulate(x, 1, MPI_INTEGER, y, -1, MPI_INTEGER, 0, at0, 1, MPI_INTEGER, MPI_SUM, win, ierr)
    case ('get_accumulate_origin_count')
        call MPI_Get_accumulate(x, -2, MPI_INTEGER, y, 1, MPI_INTEGER, 0, at0, 1, MPI_INTEGER, MPI_SUM, win, ierr)
    case ('put_rank')
        call MPI_Put(x, 1, MPI_INTEGER, 2, at0, 1, MPI_INTEGER, win, ierr)
    case ('put_rank_negative')
        call MPI_Put(x, 1, MPI_INTEGER, -99, at0, 1, MPI_INTEGER, win, ierr)
    case ('get_rank')
        call MPI_Get(x, 1, MPI_INTEGER, 77, at0, 1, MPI_INTEGER, win, ierr)
    case ('accumulate_rank')
        call MPI_Accumulate(x, 1, MPI_INTEGER, 2, at0, 1, MPI_INTEGER, MPI_SUM, win, ierr)
    case ('fetch_rank')
        call MPI_Fetch_and_op(x, y, MPI_INTEGER, 2, at0, MPI_SUM, win, ierr)
    case ('compare_rank')
        call MPI_Compare_and_swap(x, y, z, MPI_INTEGER, 2, at0, win, ierr)
    case ('put_disp')
        call MPI_Put(x, 1, MPI_INTEGER, 0, -3_aint, 1, MPI_INTEGER, win, ierr)
    case ('fetch_disp')
        call MPI_Fetch_and_op(x, y, MPI_INTEGER, 0, -1_aint, MPI_SUM, win, ierr)
    case ('put_target_type_null')
        call MPI_Put(x, 1, MPI_INTEGER, 0, at0, 1, MPI_DATATYPE_NULL, win, ierr)
    case ('get_origin_type_null')
        call MPI_Get(x, 1, MPI_DATATYPE_NULL, 0, at0, 1, MPI_INTEGER, win, ierr)
    case ('get_accumulate_result_type_null')
        call MPI_Get_accumulate(x, 1, MPI_INTEGER, y, 1, MPI_DATATYPE_NULL, 0, at0, 1, MPI_INTEGER, MPI_SUM, win, ierr)
    case ('put_type_uncommitted')
        call MPI_Put(x, 1, raw, 0, at0, 1, raw, win, ierr)
    case ('put_origin_type_uncommitted')
        call MPI_Put(x, 1, raw, 0, at0, 2, MPI_INTEGER, win, ierr)
    case ('accumulate_type_uncommitted')
        call MPI_Accumulate(x, 2, MPI_INTEGER, 0, at0, 1, raw, MPI_SUM, win, ierr)
    case ('accumulate_type_mixed')
        call MPI_Accumulate(x, 1, mixed, 0, at0, 1, mixed, MPI_SUM, win, ierr)
    case ('accumulate_types_differ')
        call MPI_Accumulate(d, 1, MPI_DOUBLE_PRECISION, 0, at0, 2, MPI_INTEGER, MPI_SUM, win, ierr)
    case ('get_accumulate_types_differ')
        call MPI_Get_accumulate(x, 2, MPI_INTEGER, d, 1, MPI_DOUBLE_PRECISION, 0, at0, 2, MPI_INTEGER, MPI_SUM, win, ierr)
    case ('fetch_type_derived')
        call MPI_Fetch_and_op(x, y, pair, 0, at0, MPI_SUM, win, ierr)
    case ('compare_type_derived')
        call MPI_Compare_and_swap(x, y, z, pair, 0, at0, win, ierr)
    case ('compare_type_float')
        call MPI_Compare_and_swap(x, y, z, MPI_REAL, 0, at0, win, ierr)
    case ('accumulate_op_null')
        call MPI_Accumulate(x, 1, MPI_INTEGER, 0, at0, 1, MPI_INTEGER, MPI_OP_NULL, win, ierr)
    case ('accumulate_op_own')
        call MPI_Accumulate(x, 1, MPI_INTEGER, 0, at0, 1, MPI_INTEGER, mine, win, ierr)
    case ('fetch_op_own')
        call MPI_Fetch_and_op(x, y, MPI_INTEGER, 0, at0, mine, win, ierr)
    case ('accumulate_no_op')
        call MPI_Accumulate(x, 1, MPI_INTEGER, 0, at0, 1, MPI_INTEGER, MPI_NO_OP, win, ierr)
    case ('accumulate_band_double')
        call MPI_Accumulate(d, 1, MPI_DOUBLE_PRECISION, 0, at0, 1, MPI_DOUBLE_PRECISION, MPI_BAND, win, ierr)
    case ('accumulate_minloc_int')
        call MPI_Accumulate(x, 1, MPI_INTEGER, 0, at0, 1, MPI_INTEGER, MPI_MINLOC, win, ierr)
    case ('put_origin_null')
        call MPI_Put(nowhere, 2, MPI_INTEGER, 0, at0, 2, MPI_INTEGER, win, ierr)
    case ('get_origin_null')
        call MPI_Get(nowhere, 1, MPI_INTEGER, 0, at0, 1, MPI_INTEGER, win, ierr)
    case ('accumulate_origin_null')
        call MPI_Accumulate(nowhere, 1, MPI_INTEGER, 0, at0, 1, MPI_INTEGER, MPI_SUM, win, ierr)
    case ('get_accumulate_result_null')
        call MPI_Get_accumulate(x, 1, MPI_INTEGER, nowhere, 1, MPI_INTEGER, 0, at0, 1, MPI_INTEGER, MPI_SUM, win, ierr)
    case ('fetch_result_null')
        call MPI_Fetch_and_op(x, nowhere, MPI_INTEGER, 0, at0, MPI_SUM, win, ierr)
    case ('compare_compare_null')
        call MPI_Compare_and_swap(x, nowhere, z, MPI_INTEGER, 0, at0, win, ierr)
    case ('put_sizes')
        call MPI_Put(x, 1, MPI_INTEGER, 0, at0, 1, MPI_DOUBLE_PRECISION, win, ierr)
    case ('get_sizes')
        call MPI_Get(x, 3, MPI_INTEGER, 0, at0, 1, MPI_INTEGER, win, ierr)
    case ('accumulate_sizes')
        call MPI_Accumulate(x, 2, MPI_INTEGER, 0, at0, 3, MPI_INTEGER, MPI_SUM, win, ierr)
    case ('get_accumulate_sizes')
        call MPI_Get_accumulate(x, 2, MPI_INTEGER, y, 1, MPI_INTEGER, 0, at0, 2, MPI_INTEGER, MPI_SUM, win, ierr)
    case ('put_range')
        call MPI_Put(x, 1, MPI_INTEGER, 0, at16, 1, MPI_INTEGER, win, ierr)
    case ('put_range_partly')
        call MPI_Put(d, 1, MPI_DOUBLE_PRECISION, 0, at15, 1, MPI_DOUBLE_PRECISION, win, ierr)
    case ('put_range_vector')
        call MPI_Put(x, 3, MPI_INTEGER, 0, at0, 1, vector, win, ierr)
    case ('put_range_far')
        call MPI_Put(x, 1, MPI_INTEGER, 0, ishft(1_aint, 62), 1, MPI_INTEGER, win, ierr)
    case ('get_range')
        call MPI_Get(x, 17, MPI_INTEGER, 0, at0, 17, MPI_INTEGER, win, ierr)
    case ('accumulate_range')
        call MPI_Accumulate(x, 2, MPI_INTEGER, 0, at15, 2, MPI_INTEGER, MPI_SUM, win, ierr)
    case ('fetch_range')
        call MPI_Fetch_and_op(x, y, MPI_INTEGER, 0, at16, MPI_SUM, win, ierr)
    case ('compare_range')
        call MPI_Compare_and_swap(x, y, z, MPI_INTEGER, 0, at16, win, ierr)
    case ('rput_range')
        call MPI_Rput(x, 1, MPI_INTEGER, 0, at16, 1, MPI_INTEGER, win, req, ierr)
    case ('unlock_another')
        call MPI_Win_unlock(1, win, ierr)
    case ('unlock_all_in_lock')
        call MPI_Win_unlock_all(win, ierr)
    case ('lock_twice')
        call MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win, ierr)
    case ('lock_all_in_lock')
        call MPI_Win_lock_all(0, win, ierr)
    case ('fence_in_lock')
        call MPI_Win_fence(0, win, ierr)
    case ('start_in_lock')
        call MPI_Win_start(self, 0, win, ierr)
    case ('free_in_lock')
        same = win
        call MPI_Win_free(same, ierr)
    case ('unlock_rank')
        call MPI_Win_unlock(2, win, ierr)
    case ('flush_rank')
        call MPI_Win_flush(-33, win, ierr)
    case ('strict_conflict')
        call MPI_Put(x, 2, MPI_INTEGER, 0, 4_aint, 2, MPI_INTEGER, win)
        call MPI_Accumulate(x, 1, MPI_INTEGER, 0, 5_aint, 1, MPI_INTEGER, MPI_SUM, win, ierr)
    end select
    call MPI_Win_unlock(0, win)
end subroutine in_lock

! Calls in no epoch, or in one that the mistake opens itself.
subroutine elsewhere(name, ierr)
    use fort_error_text_state
    implicit none
    character(len=*), intent(in) :: name
    integer, intent(inout) :: ierr
    type(MPI_Request) :: req
    logical :: flag
    integer(aint), parameter :: at0 = 0

    select case (name)
    case ('put_no_epoch')
        call MPI_Put(x, 1, MPI_INTEGER, 0, at0, 1, MPI_INTEGER, win, ierr)
    case ('get_no_epoch')
        call MPI_Get(x, 1, MPI_INTEGER, 0, at0, 1, MPI_INTEGER, win, ierr)
    case ('accumulate_no_epoch')
        call MPI_Accumulate(x, 1, MPI_INTEGER, 0, at0, 1, MPI_INTEGER, MPI_SUM, win, ierr)
    case ('fetch_no_epoch')
        call MPI_Fetch_and_op(x, y, MPI_INTEGER, 0, at0, MPI_SUM, win, ierr)
    case ('rput_no_epoch')
        call MPI_Rput(x, 1, MPI_INTEGER, 0, at0, 1, MPI_INTEGER, win, req, ierr)
    case ('put_not_locked')
        call MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win)
        call MPI_Put(x, 1, MPI_INTEGER, 0, at0, 1, MPI_INTEGER, win, ierr)
        call MPI_Win_unlock(1, win)
    case ('put_not_started')
        call MPI_Win_post(self, 0, win)
        call MPI_Win_start(self, 0, win)
        call MPI_Put(x, 1, MPI_INTEGER, 1 - rank, at0, 1, MPI_INTEGER, win, ierr)
        call MPI_Win_complete(win)
        call MPI_Win_wait(win)
    case ('put_after_last_fence')
        call MPI_Win_fence(0, win)
        call MPI_Win_fence(MPI_MODE_NOSUCCEED, win)
        call MPI_Put(x, 1, MPI_INTEGER, 0, at0, 1, MPI_INTEGER, win, ierr)
    case ('unlock_not_locked')
        call MPI_Win_unlock(0, win, ierr)
    case ('unlock_all_not_locked')
        call MPI_Win_unlock_all(win, ierr)
    case ('flush_not_locked')
        call MPI_Win_flush(0, win, ierr)
    case ('flush_local_not_locked')
        call MPI_Win_flush_local(0, win, ierr)
    case ('flush_all_not_locked')
        call MPI_Win_flush_all(win, ierr)
    case ('lock_in_lock_all', 'unlock_in_lock_all', 'fence_in_lock_all')
        call MPI_Win_lock_all(0, win)
        if (name == 'lock_in_lock_all') call MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win, ierr)
        if (name == 'unlock_in_lock_all') call MPI_Win_unlock(0, win, ierr)
        if (name == 'fence_in_lock_all') call MPI_Win_fence(0, win, ierr)
        call MPI_Win_unlock_all(win)
    case ('lock_in_fence', 'lock_all_in_fence', 'start_in_fence', 'post_in_fence')
        call MPI_Win_fence(0, win)
        call MPI_Put(x, 1, MPI_INTEGER, 0, int(rank, aint), 1, MPI_INTEGER, win)
        if (name == 'lock_in_fence') call MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win, ierr)
        if (name == 'lock_all_in_fence') call MPI_Win_lock_all(0, win, ierr)
        if (name == 'start_in_fence') call MPI_Win_start(self, 0, win, ierr)
        if (name == 'post_in_fence') call MPI_Win_post(self, 0, win, ierr)
        call MPI_Win_fence(MPI_MODE_NOSUCCEED, win)
    case ('start_twice', 'lock_in_start')
        call MPI_Win_start(none, 0, win)
        if (name == 'start_twice') call MPI_Win_start(none, 0, win, ierr)
        if (name == 'lock_in_start') call MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win, ierr)
        call MPI_Win_complete(win)
    case ('complete_not_started')
        call MPI_Win_complete(win, ierr)
    case ('wait_not_posted')
        call MPI_Win_wait(win, ierr)
    case ('test_not_posted')
        call MPI_Win_test(win, flag, ierr)
    case ('post_twice', 'fence_exposed')
        call MPI_Win_post(none, 0, win)
        if (name == 'post_twice') call MPI_Win_post(none, 0, win, ierr)
        if (name == 'fence_exposed') call MPI_Win_fence(0, win, ierr)
        call MPI_Win_wait(win)
    case ('lock_type')
        call MPI_Win_lock(99, 0, 0, win, ierr)
    case ('lock_rank')
        call MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, win, ierr)
    case ('lock_assert')
        call MPI_Win_lock(MPI_LOCK_SHARED, 0, odd, win, ierr)
    case ('lock_all_assert')
        call MPI_Win_lock_all(odd, win, ierr)
    case ('fence_assert')
        call MPI_Win_fence(odd, win, ierr)
    case ('start_assert')
        call MPI_Win_start(none, odd, win, ierr)
    case ('post_assert')
        call MPI_Win_post(none, odd, win, ierr)
    case ('start_group_null')
        call MPI_Win_start(MPI_GROUP_NULL, 0, win, ierr)
    case ('post_group_null')
        call MPI_Win_post(MPI_GROUP_NULL, 0, win, ierr)
    case ('start_group_foreign')
        call MPI_Win_start(all, 0, alone, ierr)
    end select
end subroutine elsewhere

! Windows, memory, and what targets or strict mode find.
subroutine of_windows(name, ierr)
    use fort_error_text_state
    implicit none
    character(len=*), intent(in) :: name
    integer, intent(inout) :: ierr
    type(MPI_Win) :: w
    type(MPI_Comm) :: inter
    type(MPI_Request) :: req
    type(c_ptr) :: p
    integer, pointer, asynchronous :: last(:)
    integer(aint) :: bytes
    integer(c_intptr_t), parameter :: address = -16
    integer :: unit, later

    select case (name)
    case ('create_size')
        call MPI_Win_create(x, -1_aint, 4, MPI_INFO_NULL, MPI_COMM_WORLD, w, ierr)
    case ('create_unit')
        call MPI_Win_create(x, 64_aint, 0, MPI_INFO_NULL, MPI_COMM_WORLD, w, ierr)
    case ('create_base_null')
        call MPI_Win_create(nowhere, 64_aint, 1, MPI_INFO_NULL, MPI_COMM_WORLD, w, ierr)
    case ('allocate_size')
        call MPI_Win_allocate(-8_aint, 1, MPI_INFO_NULL, MPI_COMM_WORLD, p, w, ierr)
    case ('allocate_shared_unit')
        call MPI_Win_allocate_shared(64_aint, -4, MPI_INFO_NULL, MPI_COMM_SELF, p, w, ierr)
    case ('allocate_intercommunicator')
        call MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, 1 - rank, 7, inter)
        call MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN)
        call MPI_Win_allocate(64_aint, 1, MPI_INFO_NULL, inter, p, w, ierr)
        call MPI_Comm_free(inter)
    case ('allocate_size_of_another')
        call MPI_Win_allocate(merge(-8_aint, 64_aint, rank == 0), 1, MPI_INFO_NULL, MPI_COMM_WORLD, p, w, ierr)
    case ('attach_kind')
        call MPI_Win_attach(win, y, 256_aint, ierr)
    case ('attach_size')
        call MPI_Win_attach(dynamic, y, -5_aint, ierr)
    case ('attach_wraps')
        p = transfer(address, p)
        call c_f_pointer(p, last, [4])
        call MPI_Win_attach(dynamic, last, 32_aint, ierr)
    case ('attach_twice')
        call MPI_Win_attach(dynamic, x(9:), 4_aint, ierr)
    case ('detach_kind')
        call MPI_Win_detach(win, y, ierr)
    case ('detach_inside')
        call MPI_Win_detach(dynamic, x(9:), ierr)
    case ('detach_nothing')
        call MPI_Win_detach(dynamic, y, ierr)
    case ('query_kind')
        call MPI_Win_shared_query(dynamic, 0, bytes, unit, p, ierr)
    case ('query_rank')
        call MPI_Win_shared_query(win, 2, bytes, unit, p, ierr)
    case ('alloc_mem_size')
        call MPI_Alloc_mem(-8_aint, MPI_INFO_NULL, p, ierr)
    case ('free_mem_unknown')
        call MPI_Free_mem(x, ierr)
    case ('put_not_attached')
        call MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, dynamic)
        call MPI_Put(x, 1, MPI_INTEGER, 0, 4096_aint, 1, MPI_INTEGER, dynamic, ierr)
        call MPI_Win_unlock(0, dynamic, later)
        if (ierr == MPI_SUCCESS) ierr = later
    case ('rget_not_attached', 'rget_accumulate_not_attached')
        call MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, dynamic)
        if (name == 'rget_not_attached') then
            call MPI_Rget(x, 2, MPI_INTEGER, 0, 4096_aint, 2, MPI_INTEGER, dynamic, req, ierr)
        else
            call MPI_Rget_accumulate(x, 1, MPI_INTEGER, y, 1, MPI_INTEGER, 0, 4096_aint, 1, MPI_INTEGER, MPI_SUM, &
                dynamic, req, ierr)
        end if
        if (ierr == MPI_SUCCESS) call MPI_Wait(req, MPI_STATUS_IGNORE, ierr)
        call MPI_Win_unlock(0, dynamic)
    case ('strict_noprecede')
        call MPI_Win_fence(0, alone)
        call MPI_Put(x, 1, MPI_INTEGER, 0, 0_aint, 1, MPI_INTEGER, alone)
        call MPI_Win_fence(MPI_MODE_NOPRECEDE, alone, ierr)
        call MPI_Win_fence(MPI_MODE_NOSUCCEED, alone)
    end select
end subroutine of_windows

program fort_error_text
    use fort_error_text_state
    implicit none
    integer, parameter :: unmade = -987654
    integer :: ierr, i
    character(len=32), parameter :: names(*) = [character(len=32) :: &
        'put_origin_count', 'put_target_count', 'get_origin_count', 'accumulate_target_count', &
        'get_accumulate_result_count', 'get_accumulate_origin_count', 'put_rank', 'put_rank_negative', 'get_rank', &
        'accumulate_rank', 'fetch_rank', 'compare_rank', 'put_disp', 'fetch_disp', 'put_target_type_null', &
        'get_origin_type_null', 'get_accumulate_result_type_null', 'put_type_uncommitted', 'put_origin_type_uncommitted', &
        'accumulate_type_uncommitted', 'accumulate_type_mixed', 'accumulate_types_differ', 'get_accumulate_types_differ', &
        'fetch_type_derived', 'compare_type_derived', 'compare_type_float', 'accumulate_op_null', 'accumulate_op_own', &
        'fetch_op_own', 'accumulate_no_op', 'accumulate_band_double', 'accumulate_minloc_int', 'put_origin_null', &
        'get_origin_null', 'accumulate_origin_null', 'get_accumulate_result_null', 'fetch_result_null', &
        'compare_compare_null', 'put_sizes', 'get_sizes', 'accumulate_sizes', 'get_accumulate_sizes', 'put_range', &
        'put_range_partly', 'put_range_vector', 'put_range_far', 'get_range', 'accumulate_range', 'fetch_range', &
        'compare_range', 'rput_range', 'unlock_another', 'unlock_all_in_lock', 'lock_twice', 'lock_all_in_lock', &
        'fence_in_lock', 'start_in_lock', 'free_in_lock', 'unlock_rank', 'flush_rank', 'put_no_epoch', 'get_no_epoch', &
        'accumulate_no_epoch', 'fetch_no_epoch', 'rput_no_epoch', 'put_not_locked', 'put_not_started', &
        'put_after_last_fence', 'unlock_not_locked', 'unlock_all_not_locked', 'flush_not_locked', 'flush_local_not_locked', &
        'flush_all_not_locked', 'lock_in_lock_all', 'unlock_in_lock_all', 'fence_in_lock_all', 'lock_in_fence', &
        'lock_all_in_fence', 'start_in_fence', 'post_in_fence', 'start_twice', 'lock_in_start', 'complete_not_started', &
        'wait_not_posted', 'test_not_posted', 'post_twice', 'fence_exposed', 'lock_type', 'lock_rank', 'lock_assert', &
        'lock_all_assert', 'fence_assert', 'start_assert', 'post_assert', 'start_group_null', 'post_group_null', &
        'start_group_foreign', 'create_size', 'create_unit', 'create_base_null', 'allocate_size', 'allocate_shared_unit', &
        'allocate_intercommunicator', 'allocate_size_of_another', 'attach_kind', 'attach_size', 'attach_wraps', &
        'attach_twice', 'detach_kind', 'detach_inside', 'detach_nothing', 'query_kind', 'query_rank', 'alloc_mem_size', &
        'free_mem_unknown', 'put_not_attached', 'rget_not_attached', 'rget_accumulate_not_attached', 'strict_conflict', &
        'strict_noprecede']

    call MPI_Init()
    call prepare()
    do i = 1, size(names)
        if (.not. asked(names(i))) cycle
        call MPI_Barrier(MPI_COMM_WORLD)
        ierr = unmade
        call in_lock(names(i), ierr)
        if (ierr == unmade) call elsewhere(names(i), ierr)
        if (ierr == unmade) call of_windows(names(i), ierr)
        if (rank == 1) call say(trim(names(i)), ierr)
        flush (6)
    end do
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_Win_detach(dynamic, x)
    call MPI_Win_free(win)
    call MPI_Win_free(dynamic)
    call MPI_Win_free(alone)
    call MPI_Finalize()
end program fort_error_text
