package views

// The output on the sign-in page: an example, the same in every language.
const (
	doorHead = "$ cat ci/build.log\nadded 1,842 packages in 22s\n@harbor/money:build: done in 4.1s"
	doorTail = "ERROR  @harbor/billing#bundle: exited (2)\nError: Process completed with exit code 2."
)
