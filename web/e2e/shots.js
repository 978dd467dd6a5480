// Takes the pictures by which the looks are judged: each page at 360 and 1280
// pixels, light and dark, into shots/. Run it with `node shots.js`.

import { mkdir } from 'node:fs/promises';
import { openBrowser, signIn } from './harness/suite.js';
import { Chat } from './harness/chat.js';
import { Offcut } from './harness/offcut.js';
import { calls, fails, gate, Provider, runs, says } from './harness/provider.js';

const folder = new URL('./shots/', import.meta.url).pathname;

const log = `python3 - <<'PY'
for i in range(60000):
    print('\\033[90m2026-11-30T05:%02d:%02dZ\\033[0m \\033[36m@harbor/orders:build:\\033[0m step %d of 60000, 112 files' % (i // 60 % 60, i % 60, i))
print("\\033[31merror TS2307\\033[0m: Cannot find module '@harbor/money/legacy'")
raise SystemExit(2)
PY`;

const answer = [
  '**The build.** The end of the log names the step: `@harbor/billing#bundle` imports `@harbor/money/legacy`, and the package no longer exports it.', '',
  '```json', '"exports": {', '  ".": "./dist/index.js",', '  "./format": "./dist/format.js"', '}', '```', '',
  'I have not read the middle of the build log. An earlier step may have failed as well.', '',
].join('\n');

function script(provider) {
  provider.on('release build', calls(['list_files', { path: '.' }]), calls(['run_command', { command: log }]),
    calls(['write_file', { path: 'exports/README.md', content: '# Exports\n\nTotals are in cents.\n' }]), says(answer));
  provider.on('runner itself', calls(['run_command', { command: "head -c 12000000 /dev/zero | tr '\\0' 'h' | fold -w 80; echo finished" }]), says('The runner printed more than is kept.'));
  provider.on('watch it run', ...runs("for i in 1 2 3; do printf '\\033[36m@harbor/money:build:\\033[0m \\033[32mdone\\033[0m in %d s\\n' $i; done; sleep 25"));
  provider.on('refuse', fails(400, 'The model qwen3-coder:30b is not loaded.'));
  provider.on('half an answer', says('', { chunks: ['The three slow queries share one index scan on `orders_by_month`.\n\nThe planner chooses it because'], hold: { after: 1, gate: gate() } }));
}

/** The pages, each with how to get there. */
const scenes = {
  login: async (page, { app }) => { await page.context().clearCookies(); await page.goto(`${app.url}/login`); },
  empty: async (page, { app }) => { await page.goto(`${app.url}/`); },
  finished: async (page, { app, ids }) => {
    const chat = new Chat(page, app.url);
    await chat.open(ids.finished);
    for (const i of [1, 2]) await chat.unfold(chat.cards.nth(i));
    await chat.openPager(chat.cards.nth(1));
    await page.waitForTimeout(300);
    await chat.cards.nth(1).locator('a.cut').last().scrollIntoViewIfNeeded();
    await page.mouse.wheel(0, 500);
    await page.waitForTimeout(300);
  },
  pager: async (page, { app, ids }) => {
    const chat = new Chat(page, app.url);
    await chat.open(ids.finished);
    await (await chat.openPager(chat.cards.nth(1))).root.scrollIntoViewIfNeeded();
    await page.waitForTimeout(300);
  },
  incomplete: async (page, { app, ids }) => {
    const chat = new Chat(page, app.url);
    await chat.open(ids.incomplete);
    await chat.unfold();
    await chat.card.getByTestId('output-incomplete').first().scrollIntoViewIfNeeded();
    await page.waitForTimeout(300);
  },
  running: async (page, { app, ids }) => {
    const chat = new Chat(page, app.url);
    await chat.open(ids.running);
    await chat.live.getByText('in 3 s').waitFor();
  },
  failed: async (page, { app, ids }) => { await new Chat(page, app.url).open(ids.failed); },
  stopped: async (page, { app, ids }) => { await new Chat(page, app.url).open(ids.stopped); },
  output: async (page, { app, ids }) => {
    const [output] = await app.outputs(ids.finished);
    await page.goto(`${app.url}/s/${ids.finished}/out/${output.id}?offset=4096&q=TS2307`);
  },
  'output-incomplete': async (page, { app, ids }) => {
    const [output] = await app.outputs(ids.incomplete);
    await page.goto(`${app.url}/s/${ids.incomplete}/out/${output.id}?offset=${output.total_bytes - 4000}`);
  },
  files: async (page, { app, ids }) => { await page.goto(`${app.url}/s/${ids.finished}/files`); },
  history: async (page, { app }) => { await page.goto(`${app.url}/history`); },
  settings: async (page, { app }) => { await page.goto(`${app.url}/settings`); },
  'admin-sessions': async (page, { app }) => { await page.goto(`${app.url}/admin/sessions`); },
  'admin-truncation': async (page, { app }) => { await page.goto(`${app.url}/admin/truncation`); },
};

/** The scenes of pages that are judged as a whole, however long. */
const whole = ['settings', 'admin-truncation'];

/** Sessions in the states that are to be seen. */
async function sessions(app) {
  const ids = {};
  const make = async (name, title) => {
    ids[name] = (await app.api('POST', '/sessions', { title })).id;
    return ids[name];
  };
  const start = async (name, content) => (await app.api('POST', `/sessions/${ids[name]}/messages`, { content })).turn_id;
  await app.say(await make('finished', 'Release build fails on CI'), 'The release build on CI is red since this morning, on my machine it passes. What breaks?');
  await app.say(await make('incomplete', 'What the runner printed'), 'Look at what the runner itself printed.');
  await app.say(await make('failed', 'Refused by the provider'), 'Will it refuse?');
  await make('stopped', 'Slow queries');
  const half = await start('stopped', 'Give me half an answer');
  await new Promise((resolve) => { setTimeout(resolve, 1500); });
  await app.api('POST', `/turns/${half}/stop`);
  await app.settled(half);
  await make('running', 'Build again and watch it run');
  return { ids, run: () => start('running', 'Build again and watch it run') };
}

const only = process.argv.slice(2);
const provider = await Provider.start();
script(provider);
const app = await Offcut.start({ provider });
const browser = await openBrowser();
try {
  await mkdir(folder, { recursive: true });
  const { ids, run } = await sessions(app);
  const door = await browser.newPage();
  await signIn(door, app.url);
  const storageState = await door.context().storageState();
  await door.close();
  for (const [name, go] of Object.entries(scenes)) {
    if (only.length && !only.includes(name)) continue;
    if (name === 'running') await run();
    for (const width of [1280, 360]) {
      for (const theme of ['light', 'dark']) {
        const context = await browser.newContext({ viewport: { width, height: width < 600 ? 780 : 1100 }, colorScheme: theme, reducedMotion: 'reduce', storageState });
        const page = await context.newPage();
        page.setDefaultTimeout(10000);
        await go(page, { app, ids }).catch((failure) => console.error(`${name} ${width} ${theme}: ${failure.message}`));
        await page.screenshot({ path: `${folder}${name}-${width}-${theme}.png`, fullPage: whole.includes(name) });
        await context.close();
      }
    }
  }
} finally {
  await browser.close();
  await app.close();
  provider.close();
}
