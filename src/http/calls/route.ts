/** One route of the HTTP API, as the table has it. */
import type { Fairloom } from '../../client/client.ts';
import type { HttpAnswers } from './answers.ts';
import { type Fields, type JsonSchema, type Values, valuesOf } from './fields.ts';
import type { Look } from './own-pages.ts';
import type { Permission, View } from './view.ts';

/**
 * How a route holds to the users of its caller. `subject`: what the path or body names is one of them, or is
 * not found. `rows`: it answers theirs alone. `whole`: it shows or changes what is everybody's, and is for
 * callers that see all. `none`: it shows nothing of any user.
 */
export type UserRule = 'subject' | 'rows' | 'whole' | 'none';

/** One call of a route, checked. */
export interface Call<Q extends Fields, B extends Fields> {
  /** The client that the API stands before. */
  readonly loom: Fairloom;
  /** What the caller may see. */
  readonly view: View;
  /** Parts of the path, by name. */
  readonly path: PathParts;
  /** Parameters. */
  readonly query: Values<Q>;
  /** Fields of the body. */
  readonly body: Values<B>;
  /** Ms since the epoch. */
  readonly now: number;
  /** How long a page may look for rows of a caller that sees some users only. */
  readonly look: Look;
  /** Aborts when the caller has gone. */
  readonly signal: AbortSignal;
  /** What is the same for every call. */
  readonly api: ApiFacts;
}

/** What routes know of the API that they are part of. */
export interface ApiFacts {
  /** Which of several stores of one server it is. */
  readonly namespace: string | undefined;
  /** Inputs, results and logs are left out of every answer. */
  readonly hidesPayloads: boolean;
  /** Words of errors are not shown as they are: nothing may be found or grouped by them. */
  readonly hidesWords: boolean;
}

/** Parts of a path, by name; asking for one that the path does not have is a mistake of ours. */
export interface PathParts {
  /** As it was before it was encoded. */
  get(name: string): string;
}

/** The name of a route: its method and its path, in which `{…}` are parts. */
export type RouteName = keyof HttpAnswers;

/** How a route is written down. */
interface RouteSpec<Q extends Fields, B extends Fields, A> {
  /** In one sentence. */
  readonly summary: string;
  /** What the caller has to be allowed. Default `read`. */
  readonly needs?: Permission;
  /** How it holds to the users of its caller. */
  readonly users: UserRule;
  /** Of an answer that is no mistake. Default 200. */
  readonly status?: 200 | 201 | 202;
  /** Parameters that it takes. */
  readonly query?: Q;
  /** Fields of the body that it takes; absent: it takes none. */
  readonly body?: B;
  /** Does it. */
  readonly answer: (call: Call<Q, B>) => Promise<A>;
}

/** One route, of any fields and answer. */
export interface Route extends Omit<RouteSpec<Fields, Fields, unknown>, 'answer' | 'needs'> {
  /** Its name. */
  readonly name: RouteName;
  /** `GET`, `POST`, `PATCH` or `DELETE`. */
  readonly method: string;
  /** Below `/api/v1`, as `/tasks/{id}`. */
  readonly path: string;
  /** What the caller has to be allowed. */
  readonly needs: Permission;
  /** Does it; what was given is checked before anything else. */
  readonly answer: (call: RawCall) => Promise<unknown>;
}

/** A route that answers no JSON of the table, as the document has it. */
export interface OtherRoute
  extends Pick<Route, 'method' | 'path' | 'summary' | 'needs' | 'users' | 'status'> {
  /** Its method and its path. */
  readonly name: string;
  /** Parameters that it takes. */
  readonly query: Fields;
  /** Of its answer. */
  readonly types: readonly string[];
  /** The same. */
  readonly schema: JsonSchema;
}

/** A call as it has come. */
export interface RawCall extends Omit<Call<Fields, Fields>, 'query' | 'body'> {
  /** Parameters as texts. */
  readonly query: Readonly<Record<string, unknown>>;
  /** The body as JSON. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** A route; the compiler holds its answer to what `HttpAnswers` says under its name. */
export function route<
  N extends RouteName,
  Q extends Fields = Record<never, never>,
  B extends Fields = Record<never, never>,
>(name: N, spec: RouteSpec<Q, B, HttpAnswers[N]>): Route {
  const { needs = 'read', query, body, answer, ...facts } = spec;
  const [method = '', path = ''] = name.split(' ');
  return {
    ...facts,
    name,
    method,
    path,
    needs,
    ...(query === undefined ? {} : { query }),
    ...(body === undefined ? {} : { body }),
    answer: async (call) =>
      answer({
        ...call,
        query: valuesOf(`the query of ${name}`, query, call.query),
        body: valuesOf(`the body of ${name}`, body, call.body),
      }),
  };
}
