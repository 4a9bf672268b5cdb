! SPDX-License-Identifier: BSD-3-Clause
! fort_abi.f90 - a window from Fortran over the standard ABI: a put arrives, and the predefined attributes are those of the
! window. Run by fort_abi.sh.
!
! No binding over the ABI has a module that this compiler reads, so that its external procedures are called, with the
! integers of the ABI for predefined handles. Intel MPI numbers the attributes from one more than C does.
program fort_abi
  use, intrinsic :: iso_c_binding, only: c_intptr_t, c_loc
  implicit none
  integer, parameter :: comm_world = 257, info_null = 304, int4 = 721, nelem = 16
  integer, parameter :: win_base = 602, win_disp_unit = 603, win_size = 604, win_create_flavor = 605, flavor_create = 311
  integer, target :: memory(nelem)
  integer :: source(nelem), ierr, rank, nprocs, before, win, i
  integer(c_intptr_t) :: bytes, at
  external :: mpi_init, mpi_comm_rank, mpi_comm_size, mpi_win_create, mpi_win_fence, mpi_put, mpi_win_free
  external :: mpi_finalize, mpi_win_get_attr

  call mpi_init(ierr)
  call mpi_comm_rank(comm_world, rank, ierr)
  call mpi_comm_size(comm_world, nprocs, ierr)
  memory = -1
  source = [(100 * rank + i, i = 1, nelem)]
  bytes = 4 * nelem
  call mpi_win_create(memory, bytes, 4, info_null, comm_world, win, ierr)
  call check(ierr == 0, 'MPI_Win_create')
  call mpi_win_fence(0, win, ierr)
  at = 4
  call mpi_put(source, 8, int4, mod(rank + 1, nprocs), at, 8, int4, win, ierr)
  call check(ierr == 0, 'MPI_Put')
  call mpi_win_fence(0, win, ierr)
  before = mod(rank + nprocs - 1, nprocs)
  call check(all(memory(5:12) == [(100 * before + i, i = 1, 8)]), 'what was put')
  call check(all(memory(1:4) == -1) .and. all(memory(13:) == -1), 'what was not put')
  call attribute(win_base, transfer(c_loc(memory), bytes), 'MPI_WIN_BASE')
  call attribute(win_disp_unit, 4_c_intptr_t, 'MPI_WIN_DISP_UNIT')
  call attribute(win_size, bytes, 'MPI_WIN_SIZE')
  call attribute(win_create_flavor, int(flavor_create, c_intptr_t), 'MPI_WIN_CREATE_FLAVOR')
  call mpi_win_free(win, ierr)
  call check(ierr == 0, 'MPI_Win_free')
  call mpi_finalize(ierr)

contains

  subroutine check(good, what)
    logical, intent(in) :: good
    character(*), intent(in) :: what

    if (good) return
    print '(a, i0, 2a)', 'fort_abi: rank ', rank, ': wrong: ', what
    error stop 1
  end subroutine

  subroutine attribute(keyval, expected, name)
    integer, intent(in) :: keyval
    integer(c_intptr_t), intent(in) :: expected
    character(*), intent(in) :: name
    integer(c_intptr_t) :: value
    logical :: found

    found = .false.
    call mpi_win_get_attr(win, keyval, value, found, ierr)
    call check(ierr == 0 .and. found, name // ' is not there')
    call check(value == expected, name)
  end subroutine
end program
