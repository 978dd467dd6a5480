// Takes the pictures of README's tour of a server that `offcut demo-data` has filled, into
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

/** The pages, in the order of the tour: each with its address, and what is done
    on it before its picture is taken. `kept` is a session of the admin's with a
    kept output. */
const pictures = [
  { name: 'login', path: '/login', out: true, height: 620 },
  { name: 'empty', path: '/', height: 760 },
  { name: 'chat', path: ({ kept }) => `/s/${kept.session}`, height: 1000, first: openCard },
  { name: 'output', path: ({ kept }) => `/s/${kept.session}/out/${kept.output}?offset=12288`, height: 900 },
  { name: 'model', path: ({ kept }) => `/s/${kept.session}/model`, height: 900 },
  { name: 'files', path: ({ kept }) => `/s/${kept.session}/files`, height: 560 },
  { name: 'history', path: '/history?q=export', height: 860 },
  { name: 'settings', path: '/settings', height: 1060 },
  { name: 'account', path: '/account', height: 760 },
  { name: 'admin-sessions', path: '/admin/sessions', height: 860 },
  { name: 'admin-users', path: '/admin/users', height: 620 },
  { name: 'admin-usage', path: '/admin/usage?by=month', height: 760 },
  { name: 'truncation', path: '/admin/truncation', height: 1180 },
  { name: 'admin-storage', path: '/admin/storage', height: 760 },
  { name: 'admin-audit', path: '/admin/audit', height: 860 },
  { name: 'admin-dumps', path: '/admin/dumps', height: 560 },
  { name: 'admin-mcp', path: '/admin/mcp', height: 560 },
];

async function openCard(page) {
  const card = page.locator('.tool:has([data-testid=output-open]), .tool:has(.badge)').last();
  const head = (await card.count() ? card : page.getByTestId('tool-card').last()).locator('[aria-expanded]').first();
  if (await head.getAttribute('aria-expanded') === 'false') await head.click();
  await page.locator('.saw').last().waitFor();
  await page.locator('.saw').last().scrollIntoViewIfNeeded();
  await page.waitForTimeout(300);
}

/** Not every machine has letters for every title: those stay below the fold. */
async function unpinUnseen(app) {
  const { items } = await app.api('GET', '/sessions?limit=200');
  for (const { id, title, pinned } of items) {
    if (pinned && /[^\u0000-\u2fff]/.test(title)) await app.api('PATCH', `/sessions/${id}`, { pinned: false });
  }
}

/** A session of the admin's own with a kept output, the newest first. */
async function keptOne(app) {
  const { items } = await app.api('GET', '/sessions?limit=200');
  for (const { id, title } of items) {
    const outputs = (await app.api('GET', `/sessions/${id}/outputs`)).items.filter((o) => o.total_bytes > 100_000);
    if (/answer so slowly/.test(title) && outputs.length) return { session: id, output: outputs.at(-1).id };
  }
  throw new Error('the demonstration has no session with a kept output');
}

const provider = await Provider.start();
const made = spawnSync(process.env.OFFCUT_BIN ?? new URL('../../bin/offcut', import.meta.url).pathname, ['demo-data', '--data-dir', data], { encoding: 'utf8' });
if (made.status !== 0) throw new Error(made.stderr);
const app = await Offcut.start({ provider, env: { OFFCUT_DATA_DIR: data } });
const browser = await openBrowser();
try {
  mkdirSync(folder, { recursive: true });
  const kept = await keptOne(app);
  await unpinUnseen(app);
  const look = { viewport: { width: 1280, height: 800 }, colorScheme: 'light', reducedMotion: 'reduce' };
  const page = await (await browser.newContext(look)).newPage();
  const stranger = await (await browser.newContext(look)).newPage();
  await signIn(page, app.url);
  for (const { name, path, height, first, out } of pictures) {
    const on = out ? stranger : page;
    await on.setViewportSize({ width: 1280, height });
    await on.goto(app.url + (typeof path === 'string' ? path : path({ kept })));
    await first?.(on);
    await on.screenshot({ path: join(folder, `${name}.png`) });
  }
} finally {
  await browser.close();
  await app.close();
  provider.close();
  rmSync(data, { recursive: true, force: true });
}
