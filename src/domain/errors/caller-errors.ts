/** Errors of the first family: the caller's mistake. */
import { shownNode } from '../task/node-name.ts';
import { CodedError, type FairloomError, shown } from './fairloom-error.ts';

/** An option, id or name is not what the documentation asks for. Nothing was changed. */
export class InvalidOptionError extends CodedError<'INVALID_OPTION'> {
  /** The option, as the caller wrote it. */ readonly option: string;
  /** What it should have been, in words. */ readonly expected: string;
  constructor(option: string, expected: string, got: unknown, message?: string) {
    super('INVALID_OPTION', message ?? `${option}: expected ${expected}, got ${shown(got)}`);
    this.option = option;
    this.expected = expected;
  }
}

/** An input cannot be stored as JSON without changing it, is too large, or fails its schema. */
export class InvalidPayloadError extends CodedError<'INVALID_PAYLOAD'> {
  /** Where in the value, as `$.items[3].price`. */ readonly path: string;

  /** `cause`: what the schema threw. */
  constructor(path: string, problem: string, cause?: unknown) {
    super(
      'INVALID_PAYLOAD',
      `payload at ${path}: ${problem}`,
      cause === undefined ? {} : { cause },
    );
    this.path = path;
  }
}

/** A handler returned something that cannot be stored; the task has ended as failed. */
export class InvalidResultError extends CodedError<'INVALID_RESULT'> {
  /** Where in the value, as `$.items[3].price`. */ readonly path: string;

  /** `cause`: what the schema threw. */
  constructor(path: string, problem: string, cause?: unknown) {
    super('INVALID_RESULT', `result at ${path}: ${problem}`, cause === undefined ? {} : { cause });
    this.path = path;
  }
}

/** This process has no task of that name. */
export class UnknownTaskError extends CodedError<'UNKNOWN_TASK'> {
  /** The name that was asked for. */ readonly taskName: string;
  constructor(taskName: string) {
    super('UNKNOWN_TASK', `no task named ${shown(taskName)} is registered here`);
    this.taskName = taskName;
  }
}

/** This process has the task's definition, and not the registered handler that it names. */
export class UnknownHandlerError extends CodedError<'UNKNOWN_HANDLER'> {
  /** The task that was to be run. */ readonly taskName: string;
  /** The handler that it names. */ readonly handler: string;
  constructor(taskName: string, handler: string) {
    super(
      'UNKNOWN_HANDLER',
      `task ${shown(taskName)} needs a handler ${shown(handler)}, and none is registered here`,
    );
    this.taskName = taskName;
    this.handler = handler;
  }
}

/** A task depends on an id that is not stored, or no longer. */
export class UnknownDependencyError extends CodedError<'UNKNOWN_DEPENDENCY'> {
  /** The task that was to be stored. */ readonly taskId: string;
  /** The id that it depends on. */ readonly dependency: string;
  constructor(taskId: string, dependency: string) {
    super(
      'UNKNOWN_DEPENDENCY',
      `task ${taskId} depends on ${shown(dependency)}, which is not stored`,
    );
    this.taskId = taskId;
    this.dependency = dependency;
  }
}

/** A task depends on another user's task without `allowCrossUser`. */
export class CrossUserDependencyError extends CodedError<'CROSS_USER_DEPENDENCY'> {
  /** The task that was to be stored. */ readonly taskId: string;
  /** The id that it depends on. */ readonly dependency: string;
  constructor(taskId: string, dependency: string) {
    super(
      'CROSS_USER_DEPENDENCY',
      `task ${taskId} depends on ${shown(dependency)} of another user`,
    );
    this.taskId = taskId;
    this.dependency = dependency;
  }
}

/** Tasks that would wait for each other for ever. */
export class DependencyCycleError extends CodedError<'DEPENDENCY_CYCLE'> {
  /** Ids, from one task back to it. */ readonly path: readonly string[];
  constructor(path: readonly string[]) {
    const ids = path.length > 12 ? [...path.slice(0, 6), '…', ...path.slice(-5)] : path;
    super('DEPENDENCY_CYCLE', `dependency cycle: ${ids.join(' → ')}`);
    this.path = path;
  }
}

/**
 * Others wait for the task, and so many tasks hang together with it that whether it would wait for
 * itself cannot be told within the limit. Nothing was changed.
 */
export class DependencyLimitError extends CodedError<'DEPENDENCY_LIMIT'> {
  /** The task that was to be stored, or redriven. */ readonly taskId: string;
  /** How many dependencies were followed, each way. */ readonly limit: number;
  constructor(taskId: string, limit: number) {
    super(
      'DEPENDENCY_LIMIT',
      `task ${taskId} is waited for, and whether it closes a cycle shows only beyond ${limit} dependencies`,
    );
    this.taskId = taskId;
    this.limit = limit;
  }
}

/** Two nodes of one workflow have the same name. */
export class DuplicateNodeError extends CodedError<'DUPLICATE_NODE'> {
  /** The name. */ readonly node: string;
  /** Where each of the two stands in the workflow. */ readonly paths: readonly [string, string];
  constructor(node: string, paths: readonly [string, string]) {
    super(
      'DUPLICATE_NODE',
      `two nodes are named ${shown(shownNode(node))}: at ${paths[0]} and at ${paths[1]}; rename one by as()`,
    );
    this.node = node;
    this.paths = paths;
  }
}

/** A workflow written as text cannot be read. */
export class NotationError extends CodedError<'NOTATION'> {
  /** Characters before the place. */ readonly position: number;
  /** From 1. */ readonly line: number;
  /** From 1. */ readonly column: number;
  /** What could stand there, in words. */ readonly expected: string;
  constructor(text: string, position: number, expected: string, got: string) {
    const before = text.slice(0, position);
    const line = before.split('\n').length;
    const column = position - before.lastIndexOf('\n');
    super('NOTATION', `notation, line ${line}, column ${column}: expected ${expected}, got ${got}`);
    this.position = position;
    this.line = line;
    this.column = column;
    this.expected = expected;
  }
}

/** The id is taken by a task with another user, name or payload. */
export class TaskConflictError extends CodedError<'TASK_CONFLICT'> {
  /** The task. */ readonly taskId: string;
  constructor(taskId: string, why = 'with another user, name or payload') {
    super('TASK_CONFLICT', `task ${taskId} exists ${why}`);
    this.taskId = taskId;
  }
}

/** The idempotency key belongs to another task, and the policy is `reject`. */
export class KeyTakenError extends CodedError<'KEY_TAKEN'> {
  /** The key. */ readonly key: string;
  /** The task that holds it. */ readonly taskId: string;
  constructor(key: string, taskId: string) {
    super('KEY_TAKEN', `idempotency key ${shown(key)} is held by task ${taskId}`);
    this.key = key;
    this.taskId = taskId;
  }
}

/** One item of an all-or-none call was refused, so none of it was stored; `cause` says why. */
export class BatchRefusedError extends CodedError<'BATCH_REFUSED'> {
  /** Position of the item that was refused. */ readonly index: number;
  constructor(index: number, cause: FairloomError) {
    super('BATCH_REFUSED', `nothing was stored: item ${index} was refused (${cause.message})`, {
      cause,
    });
    this.index = index;
  }
}
