// Builds the program that the tests run, unless OFFCUT_BIN names one.

import { spawnSync } from 'node:child_process';

if (!process.env.OFFCUT_BIN) {
  const root = new URL('../../../', import.meta.url).pathname;
  const { status } = spawnSync('make', ['build'], { cwd: root, stdio: 'inherit' });
  process.exit(status ?? 1);
}
