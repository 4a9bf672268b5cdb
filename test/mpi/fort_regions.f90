! SPDX-License-Identifier: BSD-3-Clause
! fort_regions.f90 - regions and MPI_Pcontrol from Fortran, for trace_regions.sh. A wrong result ends the program with an
! exit code of 1.
program fort_regions
    use mpi_f08
    use mpi_rma_f08
    implicit none
    type(MPI_Win) :: win
    integer, volatile :: memory(1)
    character(len=200) :: long
    integer :: ierr, round

    call MPI_Init(ierr)
    call MPI_Win_create(memory, 4_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr)
    call MPIRMA_Region_begin('steps   ', ierr)
    if (ierr /= MPI_SUCCESS) stop 1
    do round = 1, 3
        call MPIRMA_Region_begin('step')
        call MPI_Win_fence(0, win, ierr)
        call MPIRMA_Region_end()
    end do
    call MPIRMA_Region_end(ierr)
    if (ierr /= MPI_SUCCESS) stop 1
    call MPI_Pcontrol(0)
    call MPI_Win_fence(0, win, ierr)
    call MPI_Pcontrol(1)
    long = repeat('m', len(long))
    call MPIRMA_Region_begin(long)
    call MPIRMA_Region_end()
    call MPIRMA_Region_begin('  ', ierr)
    if (ierr /= MPI_ERR_ARG) stop 1
    call MPIRMA_Region_end(ierr)
    if (ierr /= MPI_ERR_OTHER) stop 1
    call MPI_Win_free(win, ierr)
    call MPI_Finalize(ierr)
end program fort_regions
