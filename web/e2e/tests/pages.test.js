// Every page of the server, as its table of routes has them, so that a page that
// is added is held to the same: axe finds nothing, light and dark, wide and
// narrow, in each language, and no page says in one language what belongs to
// another.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { suite } from '../harness/suite.js';
import { calls, fails, runs, says } from '../harness/provider.js';
import { accessible, noSidewaysScroll } from '../harness/axe.js';

const it = suite();

const read = (path) => readFileSync(new URL(path, import.meta.url), 'utf8');

/** What can be opened in a browser: pages, and pieces of pages and files too. */
const addresses = [...read('../../routes.go').matchAll(/\{GET, "([^"]+)", (?:visitor|page|adminPage),/g)].map(([, path]) => path);

/** What an address needs beside its path. */
const queries = {
  '/admin/sessions/goes': ({ session }) => `?id=${session}`,
  '/admin/sessions/export': ({ session }) => `?id=${session}`,
  '/s/:session/files/raw': () => '?path=notes.txt',
  '/s/:session/files/delete': () => '?path=notes.txt',
};

/** Addresses that are of one kind of message alone, with the name of its sample. */
const special = { '/s/:session/messages/:message/text': '/s/:session/messages/:answer/text' };

/** Pages of something that no sample here has; the tests of approvals look at it. */
const elsewhere = ['/s/:session/approvals/:call'];

const languages = { en: 'en-GB', zh: 'zh-CN' };

/** How each is looked at. Of what only the colours can change, only they are looked at again. */
const looks = [[1280, 'light'], [1280, 'dark', ['color-contrast']], [360, 'dark'], [360, 'light', ['color-contrast']]];

let made;

/** Something to show at each address that names something. */
function samples(app, provider) {
  made ??= make(app, provider);
  return made;
}

async function make(app, provider) {
  provider.on('show something', ...runs('seq 1 200000', '# A title\n\nWith a way [elsewhere](https://example.org/).'));
  provider.on('be refused', fails(400, 'The provider does not want to.'));
  provider.on('write a file', calls(['write_file', { path: 'notes.txt', content: 'one\ntwo\n' }]), says('It is written.'));
  const session = await app.session('show something');
  await app.say(session.id, 'write a file');
  await app.say(session.id, 'be refused');
  await app.addUser('bea');
  const messages = await app.messages(session.id);
  const [output] = await app.outputs(session.id);
  const users = await app.api('GET', '/admin/users');
  return {
    session: session.id,
    message: messages.find(({ role }) => role === 'user').id,
    answer: messages.find(({ role, content }) => role === 'assistant' && content).id,
    turn: messages[0].turn_id,
    call: messages.find(({ tool_calls: called }) => called?.length).tool_calls[0].id,
    output: output.id,
    place: '1',
    user: users.items.find(({ name }) => name === 'bea').id,
  };
}

/** The newest dump of a refused request, by the page that lists them. */
async function dump(page, app) {
  const html = await (await page.request.get(`${app.url}/admin/dumps`)).text();
  return html.match(/\/admin\/dumps\/([^"/]+)"/)[1];
}

function filled(path, values) {
  return path.replaceAll(/:(\w+)/g, (_, name) => {
    assert.ok(values[name], `${path}: this test has no sample of :${name}`);
    return values[name];
  });
}

/** The addresses that answer with a whole page, each once. */
async function pages(page, app, values) {
  const found = new Set();
  for (const path of addresses) {
    if (elsewhere.includes(path)) continue;
    const address = filled(special[path] ?? path, values) + (queries[path]?.(values) ?? '');
    const answer = await page.request.get(app.url + address);
    assert.ok(answer.ok(), `${address}: ${answer.status()}`);
    const html = /text\/html/.test(answer.headers()['content-type'] ?? '') ? await answer.text() : '';
    if (!/^<!doctype html>/i.test(html)) continue;
    const { pathname, search } = new URL(answer.url());
    found.add(pathname + search);
  }
  return [...found];
}

const texts = Object.fromEntries(Object.keys(languages).map((tag) => [tag, JSON.parse(read(`../../../views/i18n/locales/${tag}.json`))]));

/** Names that are also words of the catalogue. */
const names = ['admin', texts.en['language.name'], texts.zh['language.name']];

/** The texts of other languages that are none of this one's. */
function foreign(language) {
  const plain = (tag) => Object.values(texts[tag]).filter((text) => typeof text === 'string' && !/[{<]/.test(text) && !names.includes(text));
  const own = new Set(plain(language));
  return Object.keys(languages).filter((tag) => tag !== language).flatMap(plain).filter((text) => !own.has(text));
}

/** Which of these texts the page says, to the eye or to the ear. */
function saying(page, wrong) {
  return page.evaluate((list) => {
    const known = new Set(list);
    const said = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) said.push(walker.currentNode.data.trim());
    for (const node of document.querySelectorAll('body *')) {
      for (const name of ['aria-label', 'title', 'placeholder', 'alt', 'data-say']) if (node.hasAttribute(name)) said.push(node.getAttribute(name));
    }
    for (const text of Object.values(document.getElementById('words').dataset)) said.push(text);
    return said.filter((text) => known.has(text));
  }, wrong);
}

for (const [language, locale] of Object.entries(languages)) {
  it(`every page is sound in ${language}`, async ({ app, provider, visit }) => {
    const page = await visit({ locale });
    const values = { ...await samples(app, provider), dump: await dump(page, app) };
    const found = await pages(page, app, values);
    for (const path of ['/', '/history', '/settings', '/account', '/admin/users', `/s/${values.session}`, `/s/${values.session}/model`, `/s/${values.session}/out/${values.output}`]) {
      assert.ok(found.includes(path), `${path} is a page: ${found}`);
    }
    const wrong = foreign(language);
    for (const path of found) {
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.goto(app.url + path);
      assert.equal(await page.locator('html').getAttribute('lang'), language, path);
      assert.deepEqual(await saying(page, wrong), [], `${path} has texts of another language than ${language}`);
      for (const [width, theme, rules] of looks) {
        await page.setViewportSize({ width, height: 800 });
        await page.emulateMedia({ colorScheme: theme });
        await accessible(page, `${path}, ${language}, ${width}, ${theme}`, rules);
        await noSidewaysScroll(page, `${path}, ${language}, ${width}, ${theme}`);
      }
    }
  });
}
