package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"offcut/cmd/offcut/config"
)

// lockName is the file in the data folder that a running server holds. It holds
// the server's address.
const lockName = "serve.lock"

// lockDataDir keeps a second server off the same data: each would take the
// other's running turns for what a crash left.
func (a *App) lockDataDir() error {
	if err := makeDataDir(a.cfg.DataDir); err != nil {
		return err
	}
	lock, err := os.OpenFile(filepath.Join(a.cfg.DataDir, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("data folder (OFFCUT_DATA_DIR): %w", err)
	}
	a.closing(lock.Close)
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return fmt.Errorf("another offcut serves the data folder %s; choose another one with --data-dir or OFFCUT_DATA_DIR", a.cfg.DataDir)
	}
	if err := errors.Join(lock.Truncate(0), write(lock, a.url)); err != nil {
		return fmt.Errorf("data folder (OFFCUT_DATA_DIR): %w", err)
	}
	return nil
}

func write(file *os.File, text string) error {
	_, err := file.WriteAt([]byte(text), 0)
	return err
}

// servedAt is the address that people open: of the server that runs on the data
// folder, whatever it was told where, or of one that is started as cfg says.
func servedAt(cfg config.Config) string {
	if address, ok := runningServer(cfg.DataDir); ok && cfg.PublicURL == "" {
		return address
	}
	return publicAddress(cfg, cfg.Addr)
}

// runningServer is the address of the server that holds the data folder. Where
// it cannot be told, there is none.
func runningServer(dataDir string) (string, bool) {
	lock, err := os.Open(filepath.Join(dataDir, lockName))
	if err != nil {
		return "", false
	}
	defer func() { _ = lock.Close() }()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_SH|unix.LOCK_NB); !errors.Is(err, unix.EWOULDBLOCK) {
		return "", false // nobody holds it, and closing lets go of it
	}
	address, err := io.ReadAll(io.LimitReader(lock, 1<<10))
	return string(address), err == nil && len(address) > 0
}
