/** One operation: what can be looked at or done, said once for the HTTP API, the command line and their documents. */
import type { Fairloom } from '../client/client.ts';
import type { Answers, OperationName } from './answers.ts';
import { type Fields, type Values, valuesOf } from './fields.ts';
import type { Look } from './look.ts';
import type { Permission, View } from './view.ts';

/**
 * How an operation holds to the users of its caller. `subject`: what its input names is of one of them, or is not
 * found. `rows`: it answers theirs alone. `whole`: it shows or changes what is of all users, and is for callers
 * that see all. `none`: it shows nothing of any user.
 */
export type UserRule = 'subject' | 'rows' | 'whole' | 'none';

/** What an operation does to what is stored. `destroys`: it ends or removes something, so people are asked before. */
export type Effect = 'reads' | 'changes' | 'destroys';

/** What is around one call of an operation. */
export interface Around {
  /** The client that does it. */
  readonly loom: Fairloom;
  /** What the caller may see. */
  readonly view: View;
  /** Ms since the epoch. */
  readonly now: number;
  /** How long a page may look for rows of a caller that sees some users only. */
  readonly look: Look;
  /** What is the same for every call. */
  readonly api: ApiFacts;
}

/** What operations know of the API that they are part of. */
export interface ApiFacts {
  /** Which of several stores of one server it is. */
  readonly namespace: string | undefined;
  /** Inputs, results and logs are left out of every answer. */
  readonly hidesPayloads: boolean;
  /** Words of errors are not shown as they are: nothing may be found or grouped by them. */
  readonly hidesWords: boolean;
}

/** Values by name, not checked. */
export type Given = Readonly<Record<string, unknown>>;

/** Parts of a path, as `{ user: string }` of `/users/{user}`. */
type PartsOf<P extends string> = P extends `${string}{${infer N}}${infer Rest}`
  ? { readonly [K in N]: string } & PartsOf<Rest>
  : unknown;

/** One call of an operation, checked. */
export interface Call<I> extends Around {
  /** Its input: parts of the path, parameters and fields of the body, by name. */
  readonly input: I;
}

/** How an operation is written down. */
interface Spec<H extends string, I extends Fields, A> {
  /** Its route of the HTTP API: method, and path below `/api/v1`; absent: it has none. */
  readonly http?: H;
  /** Another route of the same. */
  readonly alsoHttp?: H;
  /** Its command, as `users set <user>`: words in brackets are of its input; absent: it has none. */
  readonly command?: string;
  /** What it does, in one sentence. */
  readonly help: string;
  /** What the caller has to be allowed. Default `read`. */
  readonly needs?: Permission;
  /** What it does to what is stored. Default: `reads` where it needs `read`, else `changes`. */
  readonly effect?: Effect;
  /** How it holds to the users of its caller. Default `whole`. */
  readonly users?: UserRule;
  /** The status of its answer over HTTP. Default 200. */
  readonly status?: 200 | 201 | 202;
  /** Its input, without parts of the path. */
  readonly input?: I;
  /** Does it. */
  readonly run: (call: Call<PartsOf<H> & Values<I>>) => Promise<A>;
}

/** One operation, of any input and answer. */
export interface Operation {
  /** As `users.set`. */
  readonly name: string;
  /** Its routes, as `PATCH /users/{user}`. */
  readonly http: readonly string[];
  /** Its command, as `users set <user>`. */
  readonly command: string | undefined;
  /** What it does, in one sentence. */
  readonly help: string;
  /** What the caller has to be allowed. */
  readonly needs: Permission;
  /** What it does to what is stored. */
  readonly effect: Effect;
  /** How it holds to the users of its caller. */
  readonly users: UserRule;
  /** The status of its answer over HTTP. */
  readonly status: 200 | 201 | 202;
  /** Its input, without parts of the path. */
  readonly input: Fields;
  /** Does it with what was given, which is checked before anything else. */
  readonly run: (around: Around, given: Given) => Promise<unknown>;
}

/** An entry of the table; the compiler holds its answer to what `Answers` says under its name. */
export function operation<
  N extends OperationName,
  const H extends string = '',
  I extends Fields = Record<never, never>,
>(name: N, spec: Spec<H, I, Answers[N]>): Operation {
  return anyOperation(name, spec);
}

/** The same of an answer that the compiler does not hold to anything. */
export function anyOperation<const H extends string, I extends Fields>(
  name: string,
  spec: Spec<H, I, unknown>,
): Operation {
  const { http, alsoHttp, command, needs = 'read', users = 'whole', status = 200, input } = spec;
  const parts = new Set(partsOf(http ?? ''));
  return {
    name,
    http: [http, alsoHttp].filter((one) => one !== undefined),
    command,
    help: spec.help,
    needs,
    effect: spec.effect ?? (needs === 'read' ? 'reads' : 'changes'),
    users,
    status,
    input: input ?? {},
    run: async (around, given) => {
      const entries = Object.entries(given);
      const named = Object.fromEntries(entries.filter(([key]) => parts.has(key)));
      const others = Object.fromEntries(entries.filter(([key]) => !parts.has(key)));
      const values = { ...valuesOf(`the input of ${name}`, input, others), ...named };
      // The path has matched, so it has each of its parts.
      return spec.run({ ...around, input: values as PartsOf<H> & Values<I> });
    },
  };
}

/** Names of the parts of a path. */
function partsOf(path: string): readonly string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
}
