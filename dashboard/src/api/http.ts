/** Calls of the server that has sent this page, found from the page's own address. */
import { signal } from '@preact/signals';
import { takeDate } from '../state/clock.ts';
import { keep, kept } from '../state/storage.ts';

/** Below here everything is. */
const API = new URL('api/v1/', document.baseURI);
const TOKEN_KEY = 'fairloom.token';
/** A server that says nothing for so long is away. */
const PATIENCE_MS = 20_000;

/** What the server said instead of an answer, as `application/problem+json`; status 0: it said nothing. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly status: number;
  /** A row of docs/errors.md. */
  readonly code: string | undefined;

  constructor(status: number, message: string, code?: string) {
    super(message);
    this.status = status;
    this.code = code;
  }

  /** The store or the server cannot be reached; it may come back. */
  get isAway(): boolean {
    return this.status === 0 || this.status >= 502;
  }
}

/** For servers that ask for one; kept until the tab is closed. */
const token = signal(kept('tab', TOKEN_KEY) ?? '');

/** Takes a token that was entered. */
export function takeToken(text: string): void {
  token.value = text;
  keep('tab', TOKEN_KEY, text);
}

/** Where a path of the API lies. */
function apiUrl(path: string): URL {
  return new URL(path, API);
}

/** What every call carries. */
function headersOf(more: Readonly<Record<string, string>>): Record<string, string> {
  return token.value === '' ? { ...more } : { ...more, authorization: `Bearer ${token.value}` };
}

/** Reads one thing. */
export function read<T>(path: string, signal?: AbortSignal): Promise<T> {
  return call<T>(path, { headers: headersOf({ accept: 'application/json' }) }, signal);
}

/** Changes something. */
export function change<T>(method: string, path: string, body: unknown = {}): Promise<T> {
  const headers = headersOf({ accept: 'application/json', 'content-type': 'application/json' });
  return call<T>(path, { method, headers, body: JSON.stringify(body) });
}

/** A file, which may come for as long as it does. */
export async function readFile(path: string, signal: AbortSignal): Promise<Blob> {
  const response = await fetch(apiUrl(path), { headers: headersOf({}), signal }).catch(nothing);
  if (response === undefined) throw new Problem(0, 'the server does not answer');
  if (!response.ok) throw await problemOf(response);
  const file = await response.blob().catch(nothing);
  if (file === undefined) throw new Problem(0, 'the file broke off: it is not whole');
  return file;
}

function nothing(): undefined {
  return undefined;
}

async function call<T>(path: string, init: RequestInit, signal?: AbortSignal): Promise<T> {
  const late = AbortSignal.timeout(PATIENCE_MS);
  const ends = signal === undefined ? late : AbortSignal.any([late, signal]);
  const response = await fetch(apiUrl(path), { ...init, signal: ends }).catch(nothing);
  if (response === undefined) throw new Problem(0, 'the server does not answer');
  const date = Date.parse(response.headers.get('date') ?? '');
  if (!Number.isNaN(date)) takeDate(date);
  if (!response.ok) throw await problemOf(response);
  if (response.status === 204) return JSON.parse('{}');
  return response.json();
}

interface ProblemBody {
  readonly title?: string;
  readonly detail?: string;
  readonly code?: string;
}

/** A proxy between may answer with a page of its own. */
async function problemOf(response: Response): Promise<Problem> {
  const body: ProblemBody = await response.json().catch(() => ({}));
  const text = body.detail ?? body.title ?? `the server answered ${response.status}`;
  return new Problem(response.status, text, body.code);
}

/** One event of a stream. */
export interface StreamEvent {
  readonly event: string;
  readonly data: string;
}

/** Server-sent events, read by hand: the browser's own reader can send no token. */
export async function* openStream(path: string, signal: AbortSignal): AsyncGenerator<StreamEvent> {
  const headers = headersOf({ accept: 'text/event-stream' });
  const response = await fetch(apiUrl(path), { headers, signal });
  if (!response.ok || response.body === null) throw await problemOf(response);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let left = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const blocks = `${left}${value}`.split('\n\n');
    left = blocks.pop() ?? '';
    for (const block of blocks) yield eventOf(block);
  }
}

/** Its lines; those that begin with a colon are beats. */
function eventOf(block: string): StreamEvent {
  const found = new Map(
    block.split('\n').map((line): [string, string] => {
      const at = line.indexOf(':');
      return [line.slice(0, at), line.slice(at + 1).trim()];
    }),
  );
  return { event: found.get('event') ?? '', data: found.get('data') ?? '' };
}
