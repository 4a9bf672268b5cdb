! SPDX-License-Identifier: BSD-3-Clause
! count_app.f90 - what count_tool.c counts: a window over memory of the program, 2 fences, 3 puts, a
! barrier, an MPI_Pcontrol.
program count_app
    use mpi
    implicit none
    integer :: rank, nproc, win, ierr, i
    integer(kind=MPI_ADDRESS_KIND) :: bytes, disp
    integer, asynchronous :: cell(3), mine

    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, nproc, ierr)
    mine = rank
    cell = -1
    bytes = 3 * 4
    call MPI_Win_create(cell, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr)
    call MPI_Win_fence(0, win, ierr)
    do i = 1, 3
        disp = i - 1
        call MPI_Put(mine, 1, MPI_INTEGER, mod(rank + 1, nproc), disp, 1, MPI_INTEGER, win, ierr)
    end do
    call MPI_Win_fence(0, win, ierr)
    if (any(cell /= mod(rank + nproc - 1, nproc))) call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    call MPI_Pcontrol(2)
    call MPI_Win_free(win, ierr)
    call MPI_Finalize(ierr)
end program count_app
