// The whole under a path behind a plain reverse proxy, the socket included.

import assert from 'node:assert/strict';
import { suite } from '../harness/suite.js';
import { runs } from '../harness/provider.js';
import { Proxy } from '../harness/proxy.js';

const it = suite({ basePath: '/tools/chat' });

it('a session is begun, streamed, paged and reloaded under a path', async ({ t, app, chat, provider }) => {
  const proxy = await Proxy.start(app.origin);
  t.after(() => proxy.close());
  const strays = [];
  proxy.intercept = (req) => {
    if (!req.url.startsWith('/tools/chat')) strays.push(req.url);
    return false;
  };
  provider.on('under a path', ...runs('seq 1 100000', 'Counted.'));
  const c = await chat({ via: proxy.origin });
  await c.open();
  await c.ask('under a path');
  assert.equal(await c.text(), 'Counted.');
  assert.ok(proxy.opened > 0, 'no socket went through the proxy');
  const pager = await c.openPager();
  await pager.turn(() => pager.last.click());
  assert.match(await pager.content(), /100000\n$/);
  await c.page.reload();
  assert.equal(await c.text(), 'Counted.');
  await c.page.getByTestId('new-session').first().click();
  await c.page.waitForURL(/\/tools\/chat\/?$/);
  assert.deepEqual(strays.filter((url) => url !== '/favicon.ico'), [], 'addresses outside the path');
});

it('nothing of the program answers outside its path', async ({ app }) => {
  for (const path of ['/', '/login', '/api/v1/sessions']) {
    assert.equal((await fetch(app.origin + path, { redirect: 'manual' })).status, 404, path);
  }
});
