// Takes README's pictures of a server that `offcut demo-data` has filled, into
// docs/. Run it with `node pictures.js`.

import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openBrowser, signIn } from './harness/suite.js';
import { Offcut } from './harness/offcut.js';
import { Provider } from './harness/provider.js';

const folder = new URL('../../docs/', import.meta.url).pathname;
const data = join(tmpdir(), `offcut-pictures-${process.pid}`);

/** The pictures, each with its address and how much of the page it holds. */
const pictures = [
  { name: 'truncation', path: '/admin/truncation', height: 1180 },
];

const provider = await Provider.start();
const made = spawnSync(process.env.OFFCUT_BIN ?? new URL('../../bin/offcut', import.meta.url).pathname, ['demo-data', '--data-dir', data], { encoding: 'utf8' });
if (made.status !== 0) throw new Error(made.stderr);
const app = await Offcut.start({ provider, env: { OFFCUT_DATA_DIR: data } });
const browser = await openBrowser();
try {
  mkdirSync(folder, { recursive: true });
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: 'light', reducedMotion: 'reduce' });
  const page = await context.newPage();
  await signIn(page, app.url);
  for (const { name, path, height } of pictures) {
    await page.setViewportSize({ width: 1280, height });
    await page.goto(app.url + path);
    await page.screenshot({ path: join(folder, `${name}.png`) });
  }
} finally {
  await browser.close();
  await app.close();
  provider.close();
  rmSync(data, { recursive: true, force: true });
}
