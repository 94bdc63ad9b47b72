/**
 * `fairloom/types`: types that signatures of `fairloom` are made of, and parts of what its calls answer. A program
 * that names one of them imports it here.
 */
export type { LogFields } from './base/logger.ts';
export type { Moment } from './base/time.ts';
export type { BulkRate } from './bulk/bulk-facade.ts';
export type { BulkAction } from './bulk/bulk-record.ts';
export type { RunCause } from './client/facades/run-explanation.ts';
export type { RunGraph } from './client/facades/runs-facade.ts';
export type { SeriesPoint, SeriesSums, SeriesUser } from './client/facades/series-report.ts';
export type {
  QueueSettingsInfo,
  RateOptions,
  UserSettingsInfo,
} from './client/facades/settings-options.ts';
export type { StreamGap, StreamReset } from './client/facades/stream-reading.ts';
export type { ShownProgress } from './client/facades/task-progress.ts';
export type { InQueue, UserListOptions } from './client/facades/user-facade.ts';
export type { OpenState, VersionReport } from './client/facades/versions.ts';
export type { XComWhere } from './client/facades/xcom-facade.ts';
export type { BackendFacts } from './client/health.ts';
export type { HandlesByKind, OptionsByKind, StepOf } from './client/step-forms.ts';
export type { MeasuredClient, MeasuredScheduler, MeasuredWorker } from './core/instruments.ts';
export type { WordedDecision } from './domain/attempt/decider.ts';
export type {
  AskedWait,
  ChannelLimitName,
  ChannelPlace,
  CodedError,
  DecryptionProblem,
  GroupSteering,
  NodeFailure,
  ProgramEnd,
  StreamLimitName,
  XComLimitName,
} from './domain/errors/errors.ts';
export type { Obstacle } from './domain/explain/explain.ts';
export type { Position } from './domain/explain/position.ts';
export type { SeriesPlace } from './domain/series/series-row.ts';
export type {
  CallsOptions,
  HandlesOf,
  ManyArgs,
  ManyHandles,
  ManySource,
} from './enqueue/call-forms.ts';
export type { HasId, StoredOptions } from './enqueue/enqueue-options.ts';
export type { Unsubscribe } from './events/emitter.ts';
export type { AttemptFacts } from './events/worker-events.ts';
export type { GroupBase } from './graph/graph.ts';
export type { Json } from './graph/graph-binding.ts';
export type { TaskSource } from './handlers/registry.ts';
export type { RunConsequences } from './runs/calls/run-cancel.ts';
export type { ExportedNode } from './runs/calls/run-format.ts';
export type { Consequence, ConsequenceOptions, Consequences } from './runs/consequences.ts';
export type { GraphStats } from './runs/graph-cache.ts';
export type { SaidPlace } from './runs/record.ts';
export type { RunNodeState } from './runs/run-info.ts';
export type { Checkpoint, RunForm } from './runs/run-options.ts';
export type {
  CommonEventOptions,
  CommonScheduleOptions,
  EventInput,
  NamedEventOptions,
  NamedScheduleOptions,
  SchedulePolicies,
  ScheduleTiming,
  TemplateTaskOptions,
} from './schedules/schedule-options.ts';
export type { EventReferences, SlotReferences } from './schedules/template.ts';
export type {
  Span,
  SpanAttributes,
  SpanEnd,
  SpanParent,
  SpanRequest,
  SpanValue,
} from './tracing/tracer.ts';
export type {
  AskAnswered,
  AskStepOptions,
  AskUnanswered,
  AskValue,
  OnTimeoutEnd,
  OnTimeoutValue,
} from './workflow/ask.ts';
export type {
  ChannelBase,
  ChannelOf,
  ElementOf,
  ListKey,
  LiveChannel,
  NumberKey,
  OnceOptions,
} from './workflow/channel.ts';
export type { Again, Goto, Next, Terminate } from './workflow/control.ts';
export type { ExitOf, OutputOf, Returning } from './workflow/dynamic-context.ts';
export type { FlowStepOptions, Primitive, Wire } from './workflow/flow.ts';
export type { LenientPolicy, MemberFact, PolicyFunction } from './workflow/group-policy.ts';
export type { Drawable, NodeStates } from './workflow/notation/drawing.ts';
export type { UntypedPipeline } from './workflow/notation/notation.ts';
export type {
  EachPolicy,
  InputOfAll,
  InputOfTuple,
  MemberOutput,
  Members,
  OutputsOfTuple,
  ParallelArgs,
  ParallelOf,
  ParallelPolicy,
} from './workflow/parallel.ts';
export type { StandardSchemaV1 } from './workflow/standard-schema.ts';
export type { AnyStep, Exit, InputArgs, SomeStep, StartArgs, StepKind } from './workflow/step.ts';
export type { SubRunOptions, Upstream, Upstreams } from './workflow/task-context.ts';
export type { TaskOptionsOf } from './workflow/task-definition.ts';
export type { AttemptOptions, PlaceOptions } from './workflow/task-options.ts';
export type { ContainerMount } from './workflow/tasks/container.ts';
export type { HandledTask } from './workflow/tasks/handler-task.ts';
export type { Environment } from './workflow/tasks/program-arguments.ts';
export type { ProgramOptions, Stdout } from './workflow/tasks/program-task.ts';
export type { WaitStepOptions } from './workflow/waits.ts';
export type { XComPulled, XComSource } from './workflow/xcom.ts';
