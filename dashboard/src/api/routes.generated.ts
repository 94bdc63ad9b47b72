/** Made by `npm run docs` of the table in src/operations/: do not edit. */
import type { Answers } from '../../../src/operations/answers.ts';
/** By route that reads: its answer. */
export interface ReadAnswers {
  readonly "GET /": Answers["about"];
  readonly "GET /overview": Answers["overview"];
  readonly "GET /series": Answers["series"];
  readonly "GET /versions": Answers["versions"];
  readonly "GET /audit": Answers["audit.list"];
  readonly "GET /workers": Answers["workers.list"];
  readonly "GET /tasks": Answers["tasks.list"];
  readonly "GET /tasks/{id}": Answers["tasks.get"];
  readonly "GET /tasks/{id}/attempts": Answers["tasks.attempts"];
  readonly "GET /tasks/{id}/logs": Answers["tasks.logs"];
  readonly "GET /tasks/{id}/explain": Answers["tasks.explain"];
  readonly "GET /tasks/{id}/dependents": Answers["tasks.dependents"];
  readonly "GET /tasks/{id}/streams": Answers["streams.list"];
  readonly "GET /tasks/{id}/streams/{name}": Answers["streams.read"];
  readonly "GET /dead": Answers["dead.list"];
  readonly "GET /dead/groups": Answers["dead.groups"];
  readonly "GET /runs": Answers["runs.list"];
  readonly "GET /runs/{id}": Answers["runs.get"];
  readonly "GET /runs/{id}/graph": Answers["runs.graph"];
  readonly "GET /runs/{id}/timeline": Answers["runs.timeline"];
  readonly "GET /runs/{id}/explain": Answers["runs.explain"];
  readonly "GET /schedules": Answers["schedules.list"];
  readonly "GET /schedules/{id}": Answers["schedules.get"];
  readonly "GET /schedules/{id}/next": Answers["schedules.next"];
  readonly "GET /schedules/{id}/history": Answers["schedules.history"];
  readonly "GET /asks": Answers["asks.list"];
  readonly "GET /asks/{id}": Answers["asks.get"];
  readonly "GET /bulk": Answers["bulk.list"];
  readonly "GET /bulk/{id}": Answers["bulk.get"];
  readonly "GET /users": Answers["users.list"];
  readonly "GET /users/{user}": Answers["users.get"];
  readonly "GET /users/{user}/history": Answers["users.history"];
  readonly "GET /queues": Answers["queues.list"];
  readonly "GET /queues/{queue}": Answers["queues.get"];
}
/** By route: its word in the stream of changes, and the parameters that stand behind its colons. */
export const WATCHED: Readonly<Record<string, readonly [word: string, ...query: string[]]>> = {
  "GET /overview": ["overview"],
  "GET /users": ["users","queue"],
  "GET /users/{user}": ["user","queue"],
  "GET /queues": ["queues"],
  "GET /queues/{queue}": ["queue"],
  "GET /tasks/{id}": ["task"],
  "GET /tasks/{id}/logs": ["log"],
  "GET /tasks/{id}/explain": ["explain"],
  "GET /runs/{id}": ["run"],
  "GET /runs/{id}/graph": ["graph"],
  "GET /runs/{id}/timeline": ["timeline"],
  "GET /runs": ["runs","state"],
  "GET /tasks": ["tasks","where"],
  "GET /dead": ["dead"],
  "GET /dead/groups": ["errors"],
  "GET /schedules": ["schedules"],
  "GET /asks": ["asks"],
  "GET /workers": ["workers"],
  "GET /bulk": ["bulks"],
  "GET /bulk/{id}": ["bulk"],
};
