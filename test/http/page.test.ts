/** The page as it is served. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { PageFiles } from '../../src/http/page-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'fairloom-page-'));
mkdirSync(join(folder, 'page/assets'), { recursive: true });
writeFileSync(join(folder, 'secret.txt'), 'secret');
writeFileSync(join(folder, 'page/index.html'), '<!doctype html>');
writeFileSync(join(folder, 'page/assets/index-A1.js'), 'void 0');
writeFileSync(join(folder, 'page/mark.svg'), '<svg/>');

afterAll(() => rmSync(folder, { recursive: true }));

const page = new PageFiles(pathToFileURL(`${join(folder, 'page')}/`), []);
const ask = (path: string, init: RequestInit = {}): Promise<Response> =>
  page.answer(new Request(`http://host${path}`, init));

describe('the page', () => {
  it('is there under any path that ends like a folder, with what it names beside itself', async () => {
    for (const mount of ['/', '/admin/queues/']) {
      expect(await (await ask(mount)).text()).toBe('<!doctype html>');
      const script = await ask(`${mount}assets/index-A1.js`);
      expect(await script.text()).toBe('void 0');
      expect(script.headers.get('content-type')).toMatch('javascript');
      expect(script.headers.get('cache-control')).toContain('immutable');
      expect((await ask(`${mount}mark.svg`)).headers.get('content-type')).toBe('image/svg+xml');
    }
  });

  it('leads a mount without its slash to the one with it', async () => {
    const { status, headers } = await ask('/admin?a=1');
    expect([status, headers.get('location')]).toEqual([308, './admin/?a=1']);
  });

  it('allows no script but its own, and no frame unless it is said', async () => {
    const policy = (await ask('/')).headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self'");
    expect(policy).not.toContain('unsafe');
    expect(policy).toContain("frame-ancestors 'none'");
    const framed = new PageFiles(pathToFileURL(`${join(folder, 'page')}/`), ['https://a.example']);
    const answer = await framed.answer(new Request('http://host/'));
    expect(answer.headers.get('content-security-policy')).toContain(
      'frame-ancestors https://a.example',
    );
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(answer.headers.has('set-cookie')).toBe(false);
  });

  it.each([
    '/../secret.txt',
    '/%2e%2e/secret.txt',
    '/..%2fsecret.txt',
    '/assets/../../secret.txt',
    '/assets/..%5c..%5csecret.txt',
    '/assets//etc/passwd.txt',
    '/assets/%00.js',
    '/constructor.js',
    '/__proto__.x',
  ])('serves nothing at %s', async (path) => {
    const { status } = await ask(path);
    expect([404, 308]).toContain(status);
  });

  it('is not sent again while it is the same', async () => {
    const etag = (await ask('/')).headers.get('etag') ?? '';
    expect((await ask('/', { headers: { 'if-none-match': etag } })).status).toBe(304);
    expect((await ask('/', { method: 'POST' })).status).toBe(405);
  });

  it('says so when it is not built', async () => {
    const none = new PageFiles(pathToFileURL(`${join(folder, 'none')}/`), []);
    const answer = await none.answer(new Request('http://host/'));
    expect(answer.status).toBe(503);
    expect(await answer.text()).toContain('npm run build');
  });
});
