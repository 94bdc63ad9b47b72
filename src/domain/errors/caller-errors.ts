/** Errors of the first family: the caller's mistake. */
import { shownNode } from '../task/node-name.ts';
import { FairloomError, shown } from './fairloom-error.ts';

/** An option, id or name is not what the documentation asks for. Nothing was changed. */
export class InvalidOptionError extends FairloomError {
  /** The name of the class. */
  override readonly name = 'InvalidOptionError';
  /** See `docs/errors.md`. */
  readonly code = 'INVALID_OPTION';
  /** The same call will not succeed without a change. */
  readonly retryable = false;
  /** The option, as the caller wrote it. */
  readonly option: string;
  /** What it should have been, in words. */
  readonly expected: string;

  constructor(option: string, expected: string, got: unknown, message?: string) {
    super(message ?? `${option}: expected ${expected}, got ${shown(got)}`);
    this.option = option;
    this.expected = expected;
  }
}

/** An input cannot be stored as JSON without changing it, is too large, or fails its schema. */
export class InvalidPayloadError extends FairloomError {
  /** The name of the class. */
  override readonly name = 'InvalidPayloadError';
  /** See `docs/errors.md`. */
  readonly code = 'INVALID_PAYLOAD';
  /** The same call will not succeed without a change. */
  readonly retryable = false;
  /** Where in the value, as `$.items[3].price`. */
  readonly path: string;

  /** `cause`: what the schema threw. */
  constructor(path: string, problem: string, cause?: unknown) {
    super(`payload at ${path}: ${problem}`, cause === undefined ? {} : { cause });
    this.path = path;
  }
}

/** A handler returned something that cannot be stored; the task has ended as failed. */
export class InvalidResultError extends FairloomError {
  /** The name of the class. */
  override readonly name = 'InvalidResultError';
  /** See `docs/errors.md`. */
  readonly code = 'INVALID_RESULT';
  /** The same call will not succeed without a change. */
  readonly retryable = false;
  /** Where in the value, as `$.items[3].price`. */
  readonly path: string;

  /** `cause`: what the schema threw. */
  constructor(path: string, problem: string, cause?: unknown) {
    super(`result at ${path}: ${problem}`, cause === undefined ? {} : { cause });
    this.path = path;
  }
}

/** This process has no task of that name. */
export class UnknownTaskError extends FairloomError {
  /** The name of the class. */
  override readonly name = 'UnknownTaskError';
  /** See `docs/errors.md`. */
  readonly code = 'UNKNOWN_TASK';
  /** The same call will not succeed without a change. */
  readonly retryable = false;
  /** The name that was asked for. */
  readonly taskName: string;

  constructor(taskName: string) {
    super(`no task named ${shown(taskName)} is registered here`);
    this.taskName = taskName;
  }
}

/** This process has the task's definition, and not the registered handler that it names. */
export class UnknownHandlerError extends FairloomError {
  /** The name of the class. */
  override readonly name = 'UnknownHandlerError';
  /** See `docs/errors.md`. */
  readonly code = 'UNKNOWN_HANDLER';
  /** The same call will not succeed without a change. */
  readonly retryable = false;
  /** The task that was to be run. */
  readonly taskName: string;
  /** The handler that it names. */
  readonly handler: string;

  constructor(taskName: string, handler: string) {
    super(`task ${shown(taskName)} needs a handler ${shown(handler)}, and none is registered here`);
    this.taskName = taskName;
    this.handler = handler;
  }
}

/** A task depends on an id that is not stored, or no longer. */
export class UnknownDependencyError extends FairloomError {
  /** The name of the class. */
  override readonly name = 'UnknownDependencyError';
  /** See `docs/errors.md`. */
  readonly code = 'UNKNOWN_DEPENDENCY';
  /** The same call will not succeed without a change. */
  readonly retryable = false;
  /** The task that was to be stored. */
  readonly taskId: string;
  /** The id that it depends on. */
  readonly dependency: string;

  constructor(taskId: string, dependency: string) {
    super(`task ${taskId} depends on ${shown(dependency)}, which is not stored`);
    this.taskId = taskId;
    this.dependency = dependency;
  }
}

/** A task depends on another user's task without `allowCrossUser`. */
export class CrossUserDependencyError extends FairloomError {
  /** The name of the class. */
  override readonly name = 'CrossUserDependencyError';
  /** See `docs/errors.md`. */
  readonly code = 'CROSS_USER_DEPENDENCY';
  /** The same call will not succeed without a change. */
  readonly retryable = false;
  /** The task that was to be stored. */
  readonly taskId: string;
  /** The id that it depends on. */
  readonly dependency: string;

  constructor(taskId: string, dependency: string) {
    super(`task ${taskId} depends on ${shown(dependency)} of another user`);
    this.taskId = taskId;
    this.dependency = dependency;
  }
}

/** Tasks that would wait for each other for ever. */
export class DependencyCycleError extends FairloomError {
  /** The name of the class. */
  override readonly name = 'DependencyCycleError';
  /** See `docs/errors.md`. */
  readonly code = 'DEPENDENCY_CYCLE';
  /** The same call will not succeed without a change. */
  readonly retryable = false;
  /** Ids, from one task back to it. */
  readonly path: readonly string[];

  constructor(path: readonly string[]) {
    const ids = path.length > 12 ? [...path.slice(0, 6), '…', ...path.slice(-5)] : path;
    super(`dependency cycle: ${ids.join(' → ')}`);
    this.path = path;
  }
}

/**
 * Others wait for the task, and so many tasks hang together with it that whether it would wait for
 * itself cannot be told within the limit. Nothing was changed.
 */
export class DependencyLimitError extends FairloomError {
  /** The name of the class. */
  override readonly name = 'DependencyLimitError';
  /** See `docs/errors.md`. */
  readonly code = 'DEPENDENCY_LIMIT';
  /** The same call will not succeed without a change. */
  readonly retryable = false;
  /** The task that was to be stored, or redriven. */
  readonly taskId: string;
  /** How many dependencies were followed, each way. */
  readonly limit: number;

  constructor(taskId: string, limit: number) {
    super(
      `task ${taskId} is waited for, and whether it closes a cycle shows only beyond ${limit} dependencies`,
    );
    this.taskId = taskId;
    this.limit = limit;
  }
}

/** Two nodes of one workflow have the same name. */
export class DuplicateNodeError extends FairloomError {
  /** The name of the class. */
  override readonly name = 'DuplicateNodeError';
  /** See `docs/errors.md`. */
  readonly code = 'DUPLICATE_NODE';
  /** The same call will not succeed without a change. */
  readonly retryable = false;
  /** The name. */
  readonly node: string;
  /** Where each of the two stands in the workflow. */
  readonly paths: readonly [string, string];

  constructor(node: string, paths: readonly [string, string]) {
    super(
      `two nodes are named ${shown(shownNode(node))}: at ${paths[0]} and at ${paths[1]}; rename one by as()`,
    );
    this.node = node;
    this.paths = paths;
  }
}

/** A workflow written as text cannot be read. */
export class NotationError extends FairloomError {
  /** The name of the class. */
  override readonly name = 'NotationError';
  /** See `docs/errors.md`. */
  readonly code = 'NOTATION';
  /** The same call will not succeed without a change. */
  readonly retryable = false;
  /** Characters before the place. */
  readonly position: number;
  /** From 1. */
  readonly line: number;
  /** From 1. */
  readonly column: number;
  /** What could stand there, in words. */
  readonly expected: string;

  constructor(text: string, position: number, expected: string, got: string) {
    const before = text.slice(0, position);
    const line = before.split('\n').length;
    const column = position - before.lastIndexOf('\n');
    super(`notation, line ${line}, column ${column}: expected ${expected}, got ${got}`);
    this.position = position;
    this.line = line;
    this.column = column;
    this.expected = expected;
  }
}

/** The id is taken by a task with another user, name or payload. */
export class TaskConflictError extends FairloomError {
  /** The name of the class. */
  override readonly name = 'TaskConflictError';
  /** See `docs/errors.md`. */
  readonly code = 'TASK_CONFLICT';
  /** The same call will not succeed without a change. */
  readonly retryable = false;
  /** The task. */
  readonly taskId: string;

  constructor(taskId: string, why = 'with another user, name or payload') {
    super(`task ${taskId} exists ${why}`);
    this.taskId = taskId;
  }
}

/** The idempotency key belongs to another task, and the policy is `reject`. */
export class KeyTakenError extends FairloomError {
  /** The name of the class. */
  override readonly name = 'KeyTakenError';
  /** See `docs/errors.md`. */
  readonly code = 'KEY_TAKEN';
  /** The same call will not succeed without a change. */
  readonly retryable = false;
  /** The key. */
  readonly key: string;
  /** The task that holds it. */
  readonly taskId: string;

  constructor(key: string, taskId: string) {
    super(`idempotency key ${shown(key)} is held by task ${taskId}`);
    this.key = key;
    this.taskId = taskId;
  }
}

/** One item of an all-or-none call was refused, so none of it was stored; `cause` says why. */
export class BatchRefusedError extends FairloomError {
  /** The name of the class. */
  override readonly name = 'BatchRefusedError';
  /** See `docs/errors.md`. */
  readonly code = 'BATCH_REFUSED';
  /** The same call will not succeed without a change. */
  readonly retryable = false;
  /** Position of the item that was refused. */
  readonly index: number;

  constructor(index: number, cause: FairloomError) {
    super(`nothing was stored: item ${index} was refused (${cause.message})`, { cause });
    this.index = index;
  }
}
