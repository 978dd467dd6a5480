// Package eval asks a model questions whose right answers lie past the boundary
// of what it is shown at once, and judges what it does: whether the answer is
// right, whether what cannot be known was called so, whether a command ran again
// for more of its output, and how much of what was kept was read.
//
// A scenario is a file: what there is to look at, the question, and what makes an
// answer right. It is asked in a session of its own of the real program, which is
// known here only as a House.
package eval
