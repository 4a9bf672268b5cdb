! SPDX-License-Identifier: BSD-3-Clause
! fort_sites.f90 - two fences on one window from Fortran, for trace_sites.sh, which finds their lines by their comments.
program fort_sites
    use mpi
    implicit none
    integer :: rank, nprocs, win, ierr, round
    integer(MPI_ADDRESS_KIND) :: place
    integer :: value
    integer, volatile :: memory(1)

    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, nprocs, ierr)
    call MPI_Win_create(memory, 4_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr)
    call MPI_Win_set_name(win, 'two fences', ierr)
    place = 0
    do round = 1, 3
        value = 10 * round + rank
        call MPI_Win_fence(0, win, ierr) ! the first fence
        call MPI_Put(value, 1, MPI_INTEGER, mod(rank + 1, nprocs), place, 1, MPI_INTEGER, win, ierr)
        call MPI_Win_fence(0, win, ierr) ! the second fence
        if (memory(1) /= 10 * round + mod(rank + nprocs - 1, nprocs)) stop 1
    end do
    call MPI_Win_free(win, ierr)
    call MPI_Finalize(ierr)
end program fort_sites
