/** Routes of the HTTP API, made of the table of operations. */
import { demandNamed, type Fields, type JsonSchema } from '../operations/fields.ts';
import type { Around, Given, Operation } from '../operations/operation.ts';
import { OPERATIONS } from '../operations/table.ts';

/** A call as it has come. */
export interface RawCall extends Around {
  /** Parts of the path, by name. */
  readonly path: PathParts;
  /** Parameters as texts. */
  readonly query: Given;
  /** The body as JSON. */
  readonly body: Given;
}

/** Parts of a path, by name; asking for one that the path does not have is a mistake of ours. */
export interface PathParts {
  /** As it was before it was encoded. */
  get(name: string): string;
}

/** What the document says of every route. */
interface RouteFacts extends Pick<Operation, 'help' | 'needs' | 'effect' | 'users' | 'status'> {
  /** Its method and its path, in which `{…}` are parts. */
  readonly name: string;
  /** `GET`, `POST`, `PATCH` or `DELETE`. */
  readonly method: string;
  /** Below `/api/v1`, as `/tasks/{id}`. */
  readonly path: string;
  /** Parameters that it takes. */
  readonly query: Fields;
}

/** A route that does an operation. */
export interface Route extends RouteFacts {
  /** Fields of the body that it takes; absent: it takes none. */
  readonly body?: Fields;
  /** The name of its operation. */
  readonly operation: string;
  /** Does it; what was given is checked before anything else. */
  readonly answer: (call: RawCall) => Promise<unknown>;
}

/** A route that answers no JSON of an operation, as the document has it. */
export interface OtherRoute extends RouteFacts {
  /** Media types of its answer. */
  readonly types: readonly string[];
  /** The same as a schema. */
  readonly schema: JsonSchema;
}

/** In the order in which the document shows them. */
export const ROUTES: readonly Route[] = routesOf(OPERATIONS);

/** The routes of some operations. */
export function routesOf(operations: readonly Operation[]): readonly Route[] {
  return operations.flatMap((one) => one.http.map((name) => routeOf(name, one)));
}

function routeOf(name: string, one: Operation): Route {
  const { help, needs, effect, users, status, input } = one;
  const [method = '', path = ''] = name.split(' ');
  const fields = Object.entries(input);
  const isIn = (isQuery: boolean): Fields =>
    Object.fromEntries(
      fields.filter(([, field]) => (method === 'GET' || field.isParameter) === isQuery),
    );
  const [query, body] = [isIn(true), isIn(false)];
  const parts = [...path.matchAll(/\{(\w+)\}/g)].map(([, part = '']) => part);
  return {
    ...{ name, method, path, help, needs, effect, users, status, query, operation: one.name },
    ...(Object.keys(body).length === 0 ? {} : { body }),
    answer: async ({ path: named, query: parameters, body: given, ...around }) => {
      demandNamed(`the query of ${name}`, Object.keys(query), parameters);
      demandNamed(`the body of ${name}`, Object.keys(body), given);
      const fromPath = Object.fromEntries(parts.map((part) => [part, named.get(part)]));
      return one.run(around, { ...parameters, ...given, ...fromPath });
    },
  };
}
