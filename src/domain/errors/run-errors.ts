/** Errors of runs: what ends a walk through a graph, or forbids going on with one. */

import { LIMITS } from '../limits.ts';
import { type Cause, causeText } from '../task/cause.ts';
import { groupText, shownNode } from '../task/node-name.ts';
import { CodedError, shown } from './fairloom-error.ts';

/** Names that a message shows at most. */
const SHOWN = 20;

/** A run made more steps than it may; it has failed. */
export class MaxStepsError extends CodedError<'MAX_STEPS'> {
  /** The nodes that were left, at most 20 of them. */ readonly left: readonly string[];
  constructor(left: readonly string[], maxSteps: number = LIMITS.runSteps) {
    const names = left.slice(0, SHOWN);
    const more = left.length > SHOWN ? ` and ${left.length - SHOWN} more` : '';
    super(
      'MAX_STEPS',
      `the run made ${maxSteps} steps; not run: ${names.map(shownNode).join(', ')}${more}`,
    );
    this.left = names;
  }
}

/** A dynamic node was to run more often than its `maxCycles`; the run has failed. */
export class MaxCyclesError extends CodedError<'MAX_CYCLES'> {
  /** The node. */ readonly node: string;
  /** How often it may run. */ readonly maxCycles: number;
  constructor(node: string, maxCycles: number) {
    super(
      'MAX_CYCLES',
      `${shownNode(node)} exceeded maxCycles (${maxCycles}): it was to run once more`,
    );
    this.node = node;
    this.maxCycles = maxCycles;
  }
}

/** A member of a group returned a `goto` to a step outside of itself; the member has failed. */
export class GotoInGroupError extends CodedError<'GOTO_IN_GROUP'> {
  /** The node that returned it. */ readonly node: string;
  /** The name of the step that it named. */ readonly target: string;
  constructor(node: string, target: string) {
    super(
      'GOTO_IN_GROUP',
      `${shownNode(node)} may not go to ${shown(target)}: that is outside of its member of the group`,
    );
    this.node = node;
    this.target = target;
  }
}

/** A dynamic handler asked for what comes next and did not return it, or asked twice; the node has failed. */
export class ControlNotReturnedError extends CodedError<'CONTROL_NOT_RETURNED'> {
  /** The node. */ readonly node: string;
  /** What its handler called and did not return, as `next`. */ readonly calls: readonly string[];
  constructor(node: string, calls: readonly string[]) {
    const names = calls.slice(0, SHOWN).map((call) => `ctx.${call}`);
    const more = calls.length > SHOWN ? ` and ${calls.length - SHOWN} more` : '';
    super(
      'CONTROL_NOT_RETURNED',
      `${shownNode(node)} called ${names.join(', ')}${more} and did not return what that gave`,
    );
    this.node = node;
    this.calls = calls;
  }
}

/** A group that a run has opened was to be opened again with other members or another input. */
export class GroupChangedError extends CodedError<'GROUP_CHANGED'> {
  /** The group. */ readonly group: string;
  constructor(group: string) {
    super('GROUP_CHANGED', `${groupText(group)} is open with other members or another input`);
    this.group = group;
  }
}

/** A handler that started anew made another call where its journal has one with another input. */
export class ReplayMismatchError extends CodedError<'REPLAY_MISMATCH'> {
  /** Which call, as its number from 1 or its id. */ readonly call: string;
  /** The version of the code that made the call before; absent when it had none. */
  readonly versionBefore: string | undefined;
  /** The version of the code that started anew; absent when it has none. */
  readonly version: string | undefined;
  constructor(
    call: string,
    versions: { readonly before?: string | undefined; readonly now?: string | undefined } = {},
  ) {
    const { before, now } = versions;
    const whose = before === undefined && now === undefined ? '' : versionsText(before, now);
    super(
      'REPLAY_MISMATCH',
      `call ${call} of this handler was another one, or had another step or input, before${whose}`,
    );
    this.call = call;
    this.versionBefore = before;
    this.version = now;
  }
}

function versionsText(before: string | undefined, now: string | undefined): string {
  const named = (version: string | undefined): string =>
    version === undefined ? 'code without a version' : `version ${version}`;
  return before === now
    ? `, in ${named(now)} too`
    : `: ${named(before)} made it, not ${named(now)}`;
}

/** A handler was to wait beside a wait or a run of its own: of these it would have noticed one alone. */
export class WaitOpenError extends CodedError<'WAIT_OPEN'> {
  /** What is open, as `a wait for signal approved`. */ readonly waitsFor: string;
  constructor(called: string, waitsFor: string) {
    super(
      'WAIT_OPEN',
      `${called} cannot begin beside ${waitsFor}: a handler waits for one thing at a time`,
    );
    this.waitsFor = waitsFor;
  }
}

/** What a handler waited for did not come in time. */
export class WaitTimedOutError extends CodedError<'WAIT_TIMED_OUT'> {
  /** What it waited for, as `signal approved`. */ readonly waitedFor: string;
  constructor(waitedFor: string) {
    super('WAIT_TIMED_OUT', `${waitedFor} did not come in time`);
    this.waitedFor = waitedFor;
  }
}

/** So many signals are kept for a task that it takes no more until it waits for some. */
export class SignalLimitError extends CodedError<'SIGNAL_LIMIT'> {
  /** The task or run. */ readonly taskId: string;
  /** What was reached: their number, or their bytes. */ readonly limit: 'signals' | 'signalBytes';
  constructor(taskId: string, limit: 'signals' | 'signalBytes') {
    const most = limit === 'signals' ? LIMITS.signals : `${LIMITS.signalBytes} bytes of`;
    super(
      'SIGNAL_LIMIT',
      `${most} signals are kept for ${taskId}: it takes more once it has waited for some`,
    );
    this.taskId = taskId;
    this.limit = limit;
  }
}

/** A handler that `loom.run` runs here and now waited for a signal, which cannot be sent to it. */
export class NotStoredError extends CodedError<'NOT_STORED'> {
  constructor(what: string) {
    super('NOT_STORED', `${what} cannot come to a task that is run here and now: enqueue it`);
  }
}

/** What was to be imported is no run that this version reads. Nothing was stored. */
export class RunFormatError extends CodedError<'RUN_FORMAT'> {
  /** Where, as `$.nodes[2].state`; `$` for the whole. */ readonly path: string;
  /** What is wrong there. */ readonly problem: string;
  constructor(path: string, problem: string) {
    super('RUN_FORMAT', `${path} ${problem}`);
    this.path = path;
    this.problem = problem;
  }
}

/** The run was canceled: by request, by `ctx.cancelRun`, which throws it too, or with what it waited for. */
export class RunCanceledError extends CodedError<'RUN_CANCELED'> {
  /** Why. */ readonly why: Cause;
  constructor(why: Cause) {
    super('RUN_CANCELED', `the run was canceled: ${causeText(why)}`);
    this.why = why;
  }
}
