/** An API in this process, asked without a server. */
import type { Fairloom } from 'fairloom';
import { type HttpApiOptions, httpApi } from 'fairloom/http';

export interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly text: string;
  readonly headers: Headers;
}

export type Ask = (path: string, init?: RequestInit & { json?: unknown }) => Promise<Answer>;

/** Everybody may everything unless the options say otherwise; changes are sent as a page sends them. */
export function askerOf(loom: Fairloom, options: HttpApiOptions = {}): Ask {
  const api = httpApi(loom, { access: () => 'all', ...options });
  return async (path, { json, ...init } = {}) => {
    const isChange = (init.method ?? 'GET') !== 'GET';
    const headers = isChange
      ? { 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' }
      : {};
    const request = new Request(`http://host/some/place/api/v1${path}`, {
      headers,
      ...(isChange ? { body: JSON.stringify(json ?? {}) } : {}),
      ...init,
    });
    const response = await api.fetch(request);
    const text = await response.text();
    return { status: response.status, body: parsed(text), text, headers: response.headers };
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
