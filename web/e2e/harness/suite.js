// One test file: a server, a scripted model and a browser that all its tests
// share, and what every test must hold at its end: no error on the console, no
// exception, no violation of the content security policy.

import { test, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { chromium } from 'playwright-core';
import { adminToken, Offcut, password } from './offcut.js';
import { Provider } from './provider.js';
import { Chat } from './chat.js';
import { patience } from './eventually.js';

const chromiumPath = process.env.CHROMIUM ?? '/usr/bin/chromium';

const chromiumFlags = [
  '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync',
  '--host-resolver-rules=MAP offcut.test 127.0.0.1', // an origin that browsers do not call secure
];

/** How long one test may take, in ms. */
const mostPerTest = 120000;

const shots = new URL('../shots/', import.meta.url).pathname;

export function openBrowser() {
  return chromium.launch({ executablePath: chromiumPath, args: chromiumFlags });
}

/**
 * Declares a file's surroundings and returns its `test`. Options: `demo: true`
 * for the demo model instead of a scripted one, `env` for more variables.
 */
export function suite({ demo = false, env = {}, basePath = '' } = {}) {
  const world = { states: new Map() };

  before(async () => {
    world.provider = demo ? undefined : await Provider.start();
    world.app = await Offcut.start({ provider: world.provider, env, basePath });
    world.browser = await openBrowser();
  });

  after(async () => {
    await world.browser?.close();
    await world.app?.close();
    world.provider?.close();
  });

  /** A test; `allow` lists patterns of console errors that belong to its story. */
  return (name, story, { allow = [] } = {}) => test(name, { timeout: mostPerTest }, async (t) => {
    const visits = new Visits(world, allow);
    const { app, provider, browser } = world;
    const tools = { t, app, provider, browser, visit: (options) => visits.open(options), chat: (options) => visits.chat(options) };
    try {
      await story(tools);
      await visits.settle();
      assert.deepEqual(visits.problems, [], 'the browser reported problems');
    } catch (failure) {
      await visits.picture(name);
      t.diagnostic(`the server's log, without its quiet lines:\n${notable(app.log)}`);
      throw failure;
    } finally {
      await visits.close();
    }
  });
}

/** The end of a log without the requests that went well. */
function notable(log) {
  return log.split('\n').filter((line) => !/msg=request .*status=[1-4]/.test(line)).join('\n').slice(-2500);
}

/** The pages that one test opens, and what they complain about. */
class Visits {
  problems = [];
  #contexts = [];
  #pages = [];

  constructor(world, allow) {
    this.world = world;
    this.allow = allow;
  }

  /**
   * A page in a browser of its own, signed in as the admin (`as: null`: nobody;
   * another name: by password). `via` is the origin of a proxy.
   */
  async open({ as = 'admin', width = 1280, height = 800, theme = 'light', via, beside, ...options } = {}) {
    const context = beside ? beside.context() : await this.#context({ as, width, height, theme, via, options });
    const page = await context.newPage();
    page.setDefaultTimeout(patience);
    this.#watch(page);
    this.#pages.push(page);
    return page;
  }

  async chat(options = {}) {
    const { app } = this.world;
    return new Chat(await this.open(options), (options.via ?? app.origin) + app.basePath);
  }

  async #context({ as, width, height, theme, via, options }) {
    const origin = via ?? this.world.app.origin;
    const context = await this.world.browser.newContext({
      viewport: { width, height },
      colorScheme: theme,
      reducedMotion: 'reduce',
      storageState: as ? await this.#signedIn(as, origin) : undefined,
      ...options,
    });
    await context.exposeBinding('__offcutViolation', (_, text) => this.#complain(`policy violation: ${text}`));
    await context.addInitScript(() => document.addEventListener('securitypolicyviolation', (e) => {
      globalThis.__offcutViolation(`${e.violatedDirective} ${e.blockedURI} ${e.sourceFile}:${e.lineNumber} ${e.sample}`);
    }));
    this.#contexts.push(context);
    return context;
  }

  /** Signs in once per user and address; later pages begin with the cookie. */
  async #signedIn(name, origin) {
    const { app, browser, states } = this.world;
    const key = `${name} ${origin} ${app.dataDir}`;
    if (!states.has(key)) {
      const context = await browser.newContext();
      const page = await context.newPage();
      await signIn(page, origin + app.basePath, name);
      states.set(key, await context.storageState());
      await context.close();
    }
    return states.get(key);
  }

  #watch(page) {
    page.on('pageerror', (error) => this.#complain(`exception: ${error.stack ?? error}`));
    page.on('console', (message) => {
      if (message.type() === 'error') this.#complain(`console: ${message.text()} (${message.location().url})`);
    });
  }

  #complain(text) {
    if (this.problems.includes(text) || this.allow.some((pattern) => pattern.test(text))) return;
    this.problems.push(text);
  }

  /** Lets the pages run a little, so that a late complaint is heard. */
  async settle() {
    const open = this.#pages.filter((page) => !page.isClosed());
    if (open.length) await open[0].waitForTimeout(100);
  }

  async picture(name) {
    await mkdir(shots, { recursive: true });
    for (const [i, page] of this.#pages.entries()) {
      if (page.isClosed()) continue;
      const file = `failed-${name.replaceAll(/[^\w]+/g, '-').slice(0, 60)}-${i}.png`;
      await page.screenshot({ path: shots + file, timeout: 5000 }).catch(() => {});
    }
  }

  async close() {
    for (const context of this.#contexts) await context.close().catch(() => {});
  }
}

/** Does what sends a form, and waits until the server has answered it. */
export async function sends(page, deed) {
  const answered = page.waitForResponse((response) => response.request().method() === 'POST');
  await deed();
  await answered;
}

/** Signs in as the admin by the token, as anybody else by name and password. */
export async function signIn(page, base, name = 'admin') {
  if (name === 'admin') {
    await page.goto(`${base}/login?token=${adminToken}`);
  } else {
    await page.goto(`${base}/login`);
    await page.fill('[name=name]', name);
    await page.fill('[name=password]', password);
    await page.press('[name=password]', 'Enter');
  }
  await page.getByTestId('composer').waitFor();
}
