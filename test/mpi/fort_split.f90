! SPDX-License-Identifier: BSD-3-Clause
! fort_split.f90 - MPI_Comm_split_type from Fortran, through `use mpi` and `use mpi_f08`.
!
! Run with MPIRMA_RANKS_PER_NODE=1: a split by MPI_COMM_TYPE_SHARED gives every process a
! communicator of its own only if the host's Fortran bindings arrive in the library. The
! exit code is 1 on all ranks if one saw another size.

module fort_split_old
    use mpi
    implicit none
contains
    integer function size_old()
        integer :: comm, ierr
        call MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, comm, ierr)
        call MPI_Comm_size(comm, size_old, ierr)
        call MPI_Comm_free(comm, ierr)
    end function size_old
end module fort_split_old

module fort_split_f08
    use mpi_f08
    implicit none
contains
    integer function size_f08()
        type(MPI_Comm) :: comm
        call MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, comm)
        call MPI_Comm_size(comm, size_f08)
        call MPI_Comm_free(comm)
    end function size_f08
end module fort_split_f08

program fort_split
    use mpi_f08
    use fort_split_old, only: size_old
    use fort_split_f08, only: size_f08
    implicit none
    integer :: sizes(2), total

    call MPI_Init()
    sizes = [size_old(), size_f08()]
    if (any(sizes /= 1)) print '(a,i0,a,i0)', 'fort_split: expected 1 and 1, saw ', sizes(1), ' and ', sizes(2)
    call MPI_Allreduce(maxval(sizes), total, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD)
    call MPI_Finalize()
    if (total /= 1) stop 1
end program fort_split
