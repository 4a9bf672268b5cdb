! SPDX-License-Identifier: BSD-3-Clause
! fort_share.f90 - arrays of ALLOCATE in shared memory: windows over them are mapped.
!
! Run with libmpi-rma-malloc.so preloaded and MPIRMA_SHARE_MALLOC=1. The exit code is 1 on all ranks
! if anything was wrong on one.

program fort_share
    use mpi_f08
    implicit none
    double precision, allocatable, asynchronous :: large(:, :), small(:)
    integer :: rank, total, failures = 0

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, total)
    allocate (large(300, 400), small(10))
    call exchange('a large array', large, .true.)
    call exchange('a small array', small, .false.)
    deallocate (large)
    allocate (large(1000, 2000))
    call exchange('a larger array', large, .true.)
    call MPI_Allreduce(MPI_IN_PLACE, failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call MPI_Finalize()
    deallocate (large, small)
    if (failures > 0) stop 1
contains
    subroutine exchange(name, array, mapped)
        character(*), intent(in) :: name
        logical, intent(in) :: mapped
        double precision, intent(inout), asynchronous :: array(*)
        double precision, asynchronous :: mine
        character(MPI_MAX_INFO_VAL) :: path
        integer(MPI_ADDRESS_KIND) :: bytes, place
        logical :: there
        type(MPI_Info) :: info
        type(MPI_Win) :: win
        integer :: right, left

        right = mod(rank + 1, total)
        left = mod(rank + total - 1, total)
        array(1:10) = -1
        mine = rank + 0.5d0
        bytes = 80
        place = 3
        path = ' '
        call MPI_Win_create(array, bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, win)
        call MPI_Win_get_info(win, info)
        call MPI_Info_get(info, 'mpirma_path', MPI_MAX_INFO_VAL, path, there)
        call MPI_Info_free(info)
        if ((path == 'mapped') .neqv. mapped) call wrong(name // ': path ' // trim(path))
        call MPI_Win_fence(0, win)
        call MPI_Put(mine, 1, MPI_DOUBLE_PRECISION, right, place, 1, MPI_DOUBLE_PRECISION, win)
        call MPI_Win_fence(0, win)
        if (array(4) /= left + 0.5d0) call wrong(name // ': another value came')
        call MPI_Win_free(win)
    end subroutine exchange

    subroutine wrong(what)
        character(*), intent(in) :: what
        failures = failures + 1
        print '(a, i0, 2a)', 'fort_share: rank ', rank, ': ', what
    end subroutine wrong
end program fort_share
