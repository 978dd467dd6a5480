// The servers of tools: the administrator's page of them, what everybody is
// told, and a long result of one that is read page by page from its card.

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from '../harness/suite.js';
import { calls, says } from '../harness/provider.js';
import { accessible, noSidewaysScroll } from '../harness/axe.js';
import { eventually } from '../harness/eventually.js';

const packages = new URL('../../../agent/mcp/testdata/servers/node_modules/@modelcontextprotocol', import.meta.url).pathname;
const script = (name) => join(packages, name, 'dist/index.js');
if (!existsSync(script('server-everything'))) throw new Error('the MCP servers are missing; `make test` installs them');

const folder = mkdtempSync(join(tmpdir(), 'offcut-e2e-mcp-'));
const long = join(folder, 'long.txt');
const content = Array.from({ length: 20000 }, (_, i) => `line ${i} of the file\n`).join('');
writeFileSync(long, content);
const config = join(folder, 'offcut.yaml');
writeFileSync(config, `mcpServers:
  everything: {command: node, args: ["${script('server-everything')}"]}
  files: {command: node, args: ["${script('server-filesystem')}", "${folder}"]}
  broken: {command: node, args: [-e, "console.error('no <database>, said s3cret-value-1'); process.exit(3)"], env: {TOKEN: s3cret-value-1}}
  later: {url: "http://127.0.0.1:9/mcp?key=hidden-value", disabled: true}
`);

const it = suite({ env: { OFFCUT_CONFIG: config } });

const serverOn = (page, name) => page.locator(`[data-testid=mcp-server][data-server="${name}"]`);

for (const look of [
  { width: 1280, theme: 'light' }, { width: 1280, theme: 'dark' },
  { width: 360, theme: 'light' }, { width: 360, theme: 'dark' },
]) {
  it(`the page of the servers: ${look.width} px, ${look.theme}`, async ({ app, provider, visit }) => {
    provider.on('wake them', says('Awake.'));
    await app.session('wake them');
    const page = await visit(look);
    await page.goto(`${app.url}/admin/mcp`);
    await serverOn(page, 'everything').and(page.locator('[data-state=ready]')).waitFor();
    const broken = serverOn(page, 'broken').and(page.locator('[data-state=failed]'));
    assert.match(await broken.getByTestId('mcp-error').innerText(), /exit status 3/);
    assert.match(await broken.getByTestId('mcp-stderr').innerText(), /no <database>, said \[redacted\]/);
    assert.match(await serverOn(page, 'later').innerText(), /off[\s\S]*http:\/\/127\.0\.0\.1:9\/mcp$/);
    assert.ok(!(await page.content()).match(/s3cret-value-1|hidden-value/), 'no secret is on the page');
    await serverOn(page, 'everything').locator('summary').first().click();
    await serverOn(page, 'everything').getByText('everything__echo', { exact: true }).waitFor();
    await accessible(page, 'the page of the servers');
    await noSidewaysScroll(page, 'the page of the servers');
    await page.goto(`${app.url}/settings`);
    const line = page.getByTestId('settings-mcp');
    assert.match(await line.innerText(), /everything\s*ready\s*everything__echo/);
    await accessible(page, 'the settings');
    await noSidewaysScroll(page, 'the settings');
  });
}

it('a server is restarted, and the page looks again by itself', async ({ app, provider, visit }) => {
  provider.on('wake them', says('Awake.'));
  await app.session('wake them');
  const page = await visit();
  await page.goto(`${app.url}/admin/mcp`);
  const since = () => serverOn(page, 'everything').locator('time').first().getAttribute('datetime');
  const before = await since();
  await serverOn(page, 'everything').getByTestId('mcp-restart').click();
  await serverOn(page, 'everything').and(page.locator('[data-state=ready]')).waitFor();
  await eventually(async () => await since() !== before, 'it is not started anew');
  await page.goto(`${app.url}/admin/audit`);
  await page.getByText('restarted the MCP server everything').first().waitFor();
});

it('a long result of a server is read page by page from its card', async ({ app, provider, chat }) => {
  provider.on('read it', calls(['files__read_text_file', { path: long }]), says('Read.'));
  const { id } = await app.session('read it');
  const c = await chat();
  await c.open(id);
  assert.equal(await c.card.getAttribute('data-tool'), 'files__read_text_file');
  assert.equal(await c.card.getAttribute('data-state'), 'ok');
  await accessible(c.page, 'the conversation');
  const pager = await c.openPager();
  await pager.turn(() => pager.last.click());
  const [start, end, total] = await pager.range();
  assert.deepEqual([end, total], [content.length, content.length]);
  assert.equal(await pager.content(), content.slice(start, end));
});

it('an image of a result is in the workspace', async ({ app, provider }) => {
  provider.on('draw', calls(['everything__get-tiny-image', {}]), says('Drawn.'));
  const session = await app.session('draw');
  const { items } = await app.api('GET', `/sessions/${session.id}/messages`);
  const result = items.find((m) => m.role === 'tool').content;
  assert.match(result, /\[image, image\/png, \d+ bytes, stored in the workspace as mcp\/[\w-]+\.png\]/);
});
