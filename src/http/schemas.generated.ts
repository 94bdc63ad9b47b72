/** Made by `npm run docs` from src/operations/answers.ts: do not edit. */
export const ANSWERS: Readonly<Record<string, string>> = {
 "about": "About",
 "overview": "Overview",
 "users.list": "UserPage",
 "users.get": "UserRow",
 "users.history": "UserHistory",
 "series": "SeriesReport",
 "queues.list": "QueueList",
 "queues.get": "QueueStatus",
 "tasks.list": "SearchedPage",
 "tasks.get": "TaskDetails",
 "tasks.attempts": "AttemptList",
 "tasks.logs": "LogList",
 "tasks.explain": "Explanation",
 "tasks.dependents": "DependentList",
 "streams.list": "StreamList",
 "streams.read": "StreamRows",
 "runs.list": "RunPage",
 "runs.get": "RunDetails",
 "runs.graph": "GraphStates",
 "runs.timeline": "Timeline",
 "runs.explain": "RunExplanation",
 "dead.list": "TaskPage",
 "dead.groups": "ErrorGroupPage",
 "schedules.list": "SchedulePage",
 "schedules.get": "ScheduleInfo",
 "schedules.next": "ScheduleSlots",
 "schedules.history": "ScheduleHistory",
 "asks.list": "AskPage",
 "asks.get": "AskInfo",
 "versions": "VersionReport",
 "workers.list": "WorkerList",
 "bulk.list": "BulkPage",
 "bulk.get": "BulkInfo",
 "bulk.start": "BulkInfo",
 "bulk.cancel": "Change",
 "audit.list": "AuditPage",
 "enqueue": "StoredTask",
 "tasks.cancel": "Change",
 "tasks.redrive": "Change",
 "tasks.run-now": "Change",
 "tasks.remove": "Change",
 "signal": "SentSignal",
 "runs.start": "StoredRun",
 "runs.cancel": "Change",
 "runs.pause": "Change",
 "runs.resume": "Change",
 "runs.rerun": "StoredRun",
 "users.set": "UserRow",
 "users.pause": "Change",
 "users.resume": "Change",
 "queues.set": "QueueStatus",
 "queues.pause": "Change",
 "queues.resume": "Change",
 "schedules.update": "ScheduleInfo",
 "schedules.remove": "Change",
 "schedules.run": "StoredTask",
 "schedules.pause": "ScheduleInfo",
 "schedules.resume": "ScheduleInfo",
 "asks.answer": "GivenAnswer",
 "publish": "PublishedEvent",
 "runs.fork": "StoredRun",
 "runs.export": "RunExport",
 "graphs.show": "GraphStates",
 "schedules.set": "ScheduleInfo",
 "schedules.on": "ScheduleInfo",
 "schedules.backfill": "Backfill",
 "xcom.list": "XComPage",
 "xcom.namespaces": "XComNamespacePage",
 "xcom.get": "NamedValue",
 "xcom.push": "Change",
 "xcom.delete": "Change"
};
export const SCHEMAS: Readonly<Record<string, unknown>> = {
 "About": {
  "description": "What this API is, and what its caller may.",
  "type": "object",
  "properties": {
   "version": {
    "type": "string",
    "description": "Of the package."
   },
   "backend": {
    "type": "string",
    "description": "Where the tasks are: what the backend says of itself."
   },
   "store": {
    "$ref": "#/components/schemas/BackendFacts",
    "description": "Its name, and what it is worth."
   },
   "problems": {
    "type": "array",
    "items": {
     "type": "string"
    },
    "description": "What goes wrong in it though it answers, a line each; absent: nothing, or the caller sees some users only."
   },
   "namespace": {
    "type": "string",
    "description": "Which of several stores of one server it is; absent when it has no name."
   },
   "can": {
    "type": "array",
    "items": {
     "enum": [
      "answer",
      "bulk",
      "cancel",
      "configure",
      "enqueue",
      "pause",
      "publish",
      "read",
      "redrive",
      "remove",
      "run-now",
      "schedule",
      "signal"
     ]
    },
    "description": "What the caller may do."
   },
   "users": {
    "type": "array",
    "items": {
     "type": "string"
    },
    "description": "The caller sees these users alone; absent: it sees all."
   },
   "hidesPayloads": {
    "type": "boolean",
    "description": "Inputs, results and logs are left out of every answer."
   },
   "features": {
    "type": "array",
    "items": {
     "type": "string"
    },
    "description": "What there is beside the routes of every version, by name."
   }
  },
  "required": [
   "version",
   "backend",
   "store",
   "can",
   "hidesPayloads",
   "features"
  ]
 },
 "BackendFacts": {
  "description": "Name and capabilities of a backend.",
  "type": "object",
  "properties": {
   "name": {
    "type": "string",
    "description": "`memory`, `file`, `redis`."
   },
   "durable": {
    "type": "boolean",
    "description": "Tasks survive a crash of the process or server that stores them. On Redis: the server appends each call to its file, and its last append succeeded; false until the server has said so."
   },
   "shared": {
    "type": "boolean",
    "description": "Other processes see the same tasks."
   },
   "sync": {
    "anyOf": [
     {
      "const": "always"
     },
     {
      "$ref": "#/components/schemas/SyncInterval"
     }
    ],
    "description": "When writes are synced to disk; absent without a disk, or where another program decides. In a data folder that several processes share, the setting of its owner applies once it is open."
   }
  },
  "required": [
   "name",
   "durable",
   "shared"
  ]
 },
 "SyncInterval": {
  "description": "Longest time between an answer and its sync to disk.",
  "type": "object",
  "properties": {
   "everyMs": {
    "type": "number",
    "description": "In ms, from 1 to 60,000."
   }
  },
  "required": [
   "everyMs"
  ]
 },
 "Overview": {
  "description": "The whole at a glance. A caller that sees some users only gets these users instead of the counts.",
  "type": "object",
  "properties": {
   "at": {
    "type": "number",
    "description": "When it was read, in ms since the epoch on the clock of the server."
   },
   "counts": {
    "type": "object",
    "properties": {
     "canceled": {
      "type": "number"
     },
     "deferred": {
      "type": "number"
     },
     "failed": {
      "type": "number"
     },
     "finished": {
      "type": "number"
     },
     "queued": {
      "type": "number"
     },
     "scheduled": {
      "type": "number"
     },
     "started": {
      "type": "number"
     }
    },
    "required": [
     "canceled",
     "deferred",
     "failed",
     "finished",
     "queued",
     "scheduled",
     "started"
    ],
    "description": "Tasks by state."
   },
   "totals": {
    "type": "object",
    "additionalProperties": {
     "type": "number"
    },
    "description": "How many have ended since the store began, by outcome."
   },
   "dead": {
    "type": "number",
    "description": "Failed tasks, without those that only followed another."
   },
   "waiting": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/WaitFigure"
    },
    "description": "How many are suspended until something has come that is no task, by kind."
   },
   "queues": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/QueueStatus"
    },
    "description": "Every queue."
   },
   "workers": {
    "type": "number",
    "description": "Live workers."
   },
   "slots": {
    "type": "number",
    "description": "Tasks that they could run at once."
   },
   "lagMs": {
    "type": "number",
    "description": "How long the schedule that is due longest has been due, in ms."
   },
   "problems": {
    "type": "array",
    "items": {
     "type": "string"
    },
    "description": "What goes wrong in the store though it answers, a line each; absent: nothing."
   },
   "users": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/UserRow"
    },
    "description": "Of a caller that sees some users only: these, in each queue that knows them."
   }
  },
  "required": [
   "at"
  ]
 },
 "WaitFigure": {
  "description": "Number of waits of one kind.",
  "type": "object",
  "properties": {
   "kind": {
    "enum": [
     "ask",
     "event",
     "signal",
     "time"
    ],
    "description": "Kind of the wait."
   },
   "count": {
    "type": "number",
    "description": "Number of waiting tasks."
   },
   "since": {
    "type": "number",
    "description": "Start of the longest wait, in ms since the epoch; absent without one."
   }
  },
  "required": [
   "kind",
   "count"
  ]
 },
 "QueueStatus": {
  "description": "One queue: its settings and its counts.",
  "type": "object",
  "properties": {
   "settings": {
    "$ref": "#/components/schemas/QueueSettingsInfo",
    "description": "Effective settings, weights in turns."
   },
   "queue": {
    "type": "string",
    "description": "The queue."
   },
   "counts": {
    "type": "object",
    "properties": {
     "canceled": {
      "type": "number"
     },
     "deferred": {
      "type": "number"
     },
     "failed": {
      "type": "number"
     },
     "finished": {
      "type": "number"
     },
     "queued": {
      "type": "number"
     },
     "scheduled": {
      "type": "number"
     },
     "started": {
      "type": "number"
     }
    },
    "required": [
     "canceled",
     "deferred",
     "failed",
     "finished",
     "queued",
     "scheduled",
     "started"
    ],
    "description": "Tasks by state."
   },
   "deadLetters": {
    "type": "number",
    "description": "Failed tasks, without those that failed because a dependency did not finish."
   },
   "readyUsers": {
    "type": "number",
    "description": "Users with a queued task that no limit holds back."
   },
   "runnable": {
    "type": "number",
    "description": "How many tasks would start at once if there were slots."
   }
  },
  "required": [
   "settings",
   "queue",
   "counts",
   "deadLetters",
   "readyUsers",
   "runnable"
  ]
 },
 "QueueSettingsInfo": {
  "description": "Effective settings of a queue, as callers read them.",
  "type": "object",
  "properties": {
   "perUser": {
    "$ref": "#/components/schemas/UserSettingsInfo",
    "description": "Settings for users without their own."
   },
   "paused": {
    "type": "boolean",
    "description": "None of its tasks starts."
   },
   "maxRunning": {
    "type": "number",
    "description": "Most of its tasks that run at once."
   },
   "rate": {
    "$ref": "#/components/schemas/RateLimit",
    "description": "Limit of starts per time, of all its users together."
   },
   "charge": {
    "enum": [
     "task",
     "time"
    ],
    "description": "Cost of a turn: `task`, the cost of the task (the default); `time`, the seconds that its lease is held, estimated at first and corrected at the end."
   },
   "priorityWeights": {
    "type": "array",
    "items": {
     "type": "number"
    },
    "description": "Turns of the levels 1 to 5, integers from 1 to 1,024; default 1, 2, 4, 8, 16."
   },
   "criticalBurst": {
    "type": "number",
    "description": "One normal turn of a user after this many critical ones; absent: critical always first."
   },
   "leaseMs": {
    "type": "number",
    "description": "Length of leases of its tasks, in ms, instead of the worker's setting."
   },
   "retries": {
    "type": "number",
    "description": "Retries of tasks that have no other setting."
   },
   "timeoutMs": {
    "type": "number",
    "description": "Timeout of an attempt at such a task, in ms; 0: none."
   }
  }
 },
 "UserSettingsInfo": {
  "description": "Effective settings, as callers read them.",
  "type": "object",
  "properties": {
   "weight": {
    "type": "number",
    "description": "Share of turns relative to other users; default 1."
   },
   "maxRunning": {
    "type": "number",
    "description": "Most tasks of the user that run at once."
   },
   "maxQueued": {
    "type": "number",
    "description": "Most tasks that wait (scheduled, deferred, queued and reserved)."
   },
   "rate": {
    "$ref": "#/components/schemas/RateLimit",
    "description": "Limit of starts per time."
   },
   "paused": {
    "type": "boolean",
    "description": "None of its tasks starts."
   }
  },
  "required": [
   "weight"
  ]
 },
 "RateLimit": {
  "description": "The generic cell rate algorithm (ITU-T I.371): one number, the theoretical arrival time `tat`, is the whole state of a limit.",
  "type": "object",
  "properties": {
   "limit": {
    "type": "number",
    "description": "Number of starts …"
   },
   "perMs": {
    "type": "number",
    "description": "… in this many milliseconds."
   },
   "burst": {
    "type": "number",
    "description": "Number of starts allowed at once after a pause."
   }
  },
  "required": [
   "limit",
   "perMs",
   "burst"
  ]
 },
 "UserRow": {
  "description": "One user in one queue, with its share.",
  "type": "object",
  "properties": {
   "share": {
    "type": "number",
    "description": "Part of the running tasks of its queue, 0 to 1, over the users that were looked at and that nothing holds back; absent for one that is held back itself, and for callers that see some users only."
   },
   "fairShare": {
    "type": "number",
    "description": "The part that its weight claims among those with work, 0 to 1; absent as `share`."
   },
   "why": {
    "type": "string",
    "description": "What holds it back, or that nothing does; for people."
   },
   "settings": {
    "$ref": "#/components/schemas/UserSettingsInfo",
    "description": "Effective settings, the weight in turns."
   },
   "ahead": {
    "type": "number",
    "description": "Turns ahead of its fair share; negative behind. They count since it last joined the line: at most 1, and at least -2 (docs/fairness.md). A user that is not ready owes and is owed nothing, so it is never behind. Where the queue charges by time, a turn is a second."
   },
   "user": {
    "type": "string",
    "description": "The user."
   },
   "queue": {
    "type": "string",
    "description": "The queue."
   },
   "origins": {
    "type": "object",
    "properties": {
     "maxQueued": {
      "enum": [
       "built-in",
       "queue",
       "user",
       "user-in-queue"
      ]
     },
     "maxRunning": {
      "enum": [
       "built-in",
       "queue",
       "user",
       "user-in-queue"
      ]
     },
     "paused": {
      "enum": [
       "built-in",
       "queue",
       "user",
       "user-in-queue"
      ]
     },
     "rate": {
      "enum": [
       "built-in",
       "queue",
       "user",
       "user-in-queue"
      ]
     },
     "weight": {
      "enum": [
       "built-in",
       "queue",
       "user",
       "user-in-queue"
      ]
     }
    },
    "required": [
     "maxQueued",
     "maxRunning",
     "paused",
     "rate",
     "weight"
    ],
    "description": "Source of each setting: the user in this queue, the user in all queues, all users of the queue, or the default."
   },
   "queued": {
    "type": "number",
    "description": "Queued tasks of all levels."
   },
   "parked": {
    "type": "number",
    "description": "Queued tasks that were offered to a worker without their handlers; now they are offered only to workers that know their names. Absent when there are none."
   },
   "levels": {
    "type": "array",
    "items": {
     "type": "number"
    },
    "description": "Queued tasks by level, 1 to 6."
   },
   "running": {
    "type": "number",
    "description": "Started tasks."
   },
   "later": {
    "type": "number",
    "description": "Scheduled and deferred tasks."
   },
   "ready": {
    "type": "boolean",
    "description": "It has a queued task, and no limit holds it back."
   }
  },
  "required": [
   "why",
   "settings",
   "ahead",
   "user",
   "queue",
   "origins",
   "queued",
   "levels",
   "running",
   "later",
   "ready"
  ]
 },
 "UserPage": {
  "description": "Users of one queue.",
  "type": "object",
  "properties": {
   "items": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/UserRow"
    },
    "description": "By name."
   },
   "cursor": {
    "type": "string",
    "description": "Asks for the next page; absent on the last."
   },
   "sharesOf": {
    "type": "number",
    "description": "Shares are over so many users of the queue."
   }
  },
  "required": [
   "items",
   "sharesOf"
  ]
 },
 "UserHistory": {
  "description": "Recent figures of one user in a queue.",
  "type": "object",
  "properties": {
   "user": {
    "type": "string",
    "description": "Id of the user."
   },
   "queue": {
    "type": "string",
    "description": "Name of the queue."
   },
   "oldestWaitMs": {
    "type": "number",
    "description": "Age of the first task in its line; absent without one."
   },
   "wait": {
    "$ref": "#/components/schemas/Percentiles",
    "description": "Waits of its tasks of the last hour for their first start; absent if no start is known, as when other users had more traffic."
   },
   "run": {
    "$ref": "#/components/schemas/Percentiles",
    "description": "Durations of their handlers; absent as `wait`."
   },
   "perMinute": {
    "type": "number",
    "description": "Starts per minute over the last 10 minutes, or since its first start in that time; 0 if no start is known, as when other users had more traffic."
   },
   "etaMs": {
    "type": "number",
    "description": "Time until the last of its tasks in line starts, at that rate, in ms; absent if it has none there, is paused or has no rate."
   }
  },
  "required": [
   "user",
   "queue",
   "perMinute"
  ]
 },
 "Percentiles": {
  "description": "Percentiles of durations; each is off by 9 % at most.",
  "type": "object",
  "properties": {
   "count": {
    "type": "number",
    "description": "Number of durations."
   },
   "p50": {
    "type": "number",
    "description": "Median, in ms."
   },
   "p95": {
    "type": "number",
    "description": "95th percentile, in ms."
   },
   "p99": {
    "type": "number",
    "description": "99th percentile, in ms."
   }
  },
  "required": [
   "count",
   "p50",
   "p95",
   "p99"
  ]
 },
 "SeriesReport": {
  "description": "Counts by minute or hour.",
  "type": "object",
  "properties": {
   "step": {
    "enum": [
     "hour",
     "minute"
    ],
    "description": "Length of the points."
   },
   "from": {
    "type": "number",
    "description": "Start of the first point."
   },
   "to": {
    "type": "number",
    "description": "End of the last point; in the future if that is the current one."
   },
   "points": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/SeriesPoint"
    },
    "description": "One point per step, including empty ones."
   },
   "users": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/SeriesUser"
    },
    "description": "Users with the most traffic, the largest first; absent if the call names a user."
   },
   "others": {
    "$ref": "#/components/schemas/SeriesSums",
    "description": "Sums of all other users; absent without any, or if the call names a user."
   }
  },
  "required": [
   "step",
   "from",
   "to",
   "points"
  ]
 },
 "SeriesPoint": {
  "description": "One minute or hour.",
  "type": "object",
  "properties": {
   "at": {
    "type": "number",
    "description": "Its start, in ms since the epoch on the backend's clock."
   },
   "wait": {
    "$ref": "#/components/schemas/Percentiles",
    "description": "Durations from enqueue to the first start, delays included; absent without a start."
   },
   "run": {
    "$ref": "#/components/schemas/Percentiles",
    "description": "Durations from the call of a handler until its attempt was settled; absent without one."
   },
   "canceled": {
    "type": "number"
   },
   "enqueued": {
    "type": "number"
   },
   "failed": {
    "type": "number"
   },
   "finished": {
    "type": "number"
   },
   "lost": {
    "type": "number"
   },
   "retried": {
    "type": "number"
   },
   "started": {
    "type": "number"
   }
  },
  "required": [
   "at",
   "canceled",
   "enqueued",
   "failed",
   "finished",
   "lost",
   "retried",
   "started"
  ]
 },
 "SeriesUser": {
  "description": "Sums of one user in a queue.",
  "type": "object",
  "properties": {
   "user": {
    "type": "string",
    "description": "Id of the user."
   },
   "queue": {
    "type": "string",
    "description": "Name of the queue."
   },
   "wait": {
    "$ref": "#/components/schemas/Percentiles",
    "description": "Durations from enqueue to the first start, delays included; absent without a start."
   },
   "run": {
    "$ref": "#/components/schemas/Percentiles",
    "description": "Durations from the call of a handler until its attempt was settled; absent without one."
   },
   "canceled": {
    "type": "number"
   },
   "enqueued": {
    "type": "number"
   },
   "failed": {
    "type": "number"
   },
   "finished": {
    "type": "number"
   },
   "lost": {
    "type": "number"
   },
   "retried": {
    "type": "number"
   },
   "started": {
    "type": "number"
   }
  },
  "required": [
   "user",
   "queue",
   "canceled",
   "enqueued",
   "failed",
   "finished",
   "lost",
   "retried",
   "started"
  ]
 },
 "SeriesSums": {
  "description": "Counts over a time, and waits and runs in it.",
  "type": "object",
  "properties": {
   "wait": {
    "$ref": "#/components/schemas/Percentiles",
    "description": "Durations from enqueue to the first start, delays included; absent without a start."
   },
   "run": {
    "$ref": "#/components/schemas/Percentiles",
    "description": "Durations from the call of a handler until its attempt was settled; absent without one."
   },
   "canceled": {
    "type": "number"
   },
   "enqueued": {
    "type": "number"
   },
   "failed": {
    "type": "number"
   },
   "finished": {
    "type": "number"
   },
   "lost": {
    "type": "number"
   },
   "retried": {
    "type": "number"
   },
   "started": {
    "type": "number"
   }
  },
  "required": [
   "canceled",
   "enqueued",
   "failed",
   "finished",
   "lost",
   "retried",
   "started"
  ]
 },
 "QueueList": {
  "description": "Every queue.",
  "type": "object",
  "properties": {
   "items": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/QueueStatus"
    },
    "description": "In no given order."
   }
  },
  "required": [
   "items"
  ]
 },
 "SearchedPage": {
  "description": "Tasks that were searched for, or listed.",
  "type": "object",
  "properties": {
   "searched": {
    "type": "number",
    "description": "How many tasks were looked at, where a filter was given."
   },
   "bound": {
    "type": "number",
    "description": "The search stopped since it had looked at so many; the cursor goes on."
   },
   "items": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/TaskInfo"
    },
    "description": "In the order of the listing."
   },
   "cursor": {
    "type": "string",
    "description": "Asks for the next page; absent on the last."
   }
  },
  "required": [
   "items"
  ]
 },
 "TaskInfo": {
  "description": "Facts about one task. Moments are ms since the epoch on the backend's clock; fields without a meaning in the task's state are absent.",
  "type": "object",
  "properties": {
   "version": {
    "type": "string",
    "description": "Version of its code; absent: the newest of its worker."
   },
   "priority": {
    "enum": [
     1,
     2,
     3,
     4,
     5,
     6
    ],
    "description": "Priority among its user's tasks, 1 to 6."
   },
   "input": {
    "description": "Input of the task; absent if it cannot be read, and in listings without `values`."
   },
   "result": {
    "description": "`finished`: result of the handler; absent as `input`."
   },
   "encryptedWith": {
    "type": "string",
    "description": "Input or result cannot be read here: id of the key that encrypts them."
   },
   "failureType": {
    "enum": [
     "error",
     "expired",
     "invalid-payload",
     "invalid-result",
     "lost",
     "timeout",
     "unknown-task",
     "upstream"
    ],
    "description": "`failed`: kind of failure, see `cause`."
   },
   "error": {
    "$ref": "#/components/schemas/TaskError",
    "description": "The latest error."
   },
   "metadata": {
    "type": "object",
    "additionalProperties": {},
    "description": "Metadata set with `ctx.metadata`; absent in listings, and without any."
   },
   "dependents": {
    "$ref": "#/components/schemas/TaskDependents",
    "description": "Its dependents; absent in listings."
   },
   "id": {
    "type": "string",
    "description": "Unique among all tasks."
   },
   "name": {
    "type": "string",
    "description": "Name of the task; it selects the handler."
   },
   "queue": {
    "type": "string",
    "description": "Queue of the task."
   },
   "user": {
    "type": "string",
    "description": "User of the task."
   },
   "cost": {
    "type": "number",
    "description": "Cost of its turn; default 1."
   },
   "state": {
    "enum": [
     "canceled",
     "deferred",
     "failed",
     "finished",
     "queued",
     "scheduled",
     "started"
    ],
    "description": "State of the task."
   },
   "createdAt": {
    "type": "number",
    "description": "Moment of the enqueue."
   },
   "failures": {
    "type": "number",
    "description": "Number of failed attempts; the current or next attempt has the number `failures + 1`."
   },
   "losses": {
    "type": "number",
    "description": "Number of leases that ended without an outcome."
   },
   "releases": {
    "type": "number",
    "description": "Number of times that its handler released it; these are no attempts."
   },
   "dependsOn": {
    "type": "array",
    "items": {
     "type": "string"
    },
    "description": "Ids of its dependencies."
   },
   "blockedBy": {
    "type": "array",
    "items": {
     "type": "string"
    },
    "description": "Ids in `dependsOn` that are not satisfied yet."
   },
   "cancelRequested": {
    "type": "boolean",
    "description": "It runs, and a cancel was requested."
   },
   "dueAt": {
    "type": "number",
    "description": "`scheduled`: its due time."
   },
   "expiresAt": {
    "type": "number",
    "description": "Until its first start: the moment at which it ends as `failed(expired)`."
   },
   "token": {
    "type": "string",
    "description": "`started`: token of its lease."
   },
   "worker": {
    "type": "string",
    "description": "`started`: id of its worker."
   },
   "leasedAt": {
    "type": "number",
    "description": "`started`: moment of the lease."
   },
   "leaseUntil": {
    "type": "number",
    "description": "`started`: end of the lease unless it is extended."
   },
   "endedAt": {
    "type": "number",
    "description": "End states: moment of the end."
   },
   "cause": {
    "type": "object",
    "properties": {
     "type": {
      "enum": [
       "attempts",
       "cancel-run",
       "decider",
       "expired",
       "fatal",
       "given-up",
       "group-ended",
       "lost",
       "node-waits",
       "paused",
       "request",
       "retry-after",
       "run-ended",
       "schedule",
       "shutdown",
       "terminate",
       "unknown-here",
       "unknown-task",
       "unread",
       "upstream",
       "waited"
      ]
     },
     "failure": {
      "enum": [
       "error",
       "expired",
       "invalid-payload",
       "invalid-result",
       "lost",
       "timeout",
       "unknown-task",
       "upstream"
      ],
      "description": "Kind of failure of the newest attempt."
     },
     "made": {
      "type": "number",
      "description": "Number of failed attempts."
     },
     "of": {
      "type": "number",
      "description": "Number of attempts that the task may have."
     },
     "node": {
      "type": "string",
      "description": "Driven run: the node that failed."
     },
     "task": {
      "type": "string",
      "description": "The failed task, if that node is a group of tasks."
     },
     "fingerprint": {
      "type": "string",
      "description": "Fingerprint of the error, equal for similar errors; absent with `task`."
     },
     "leases": {
      "type": "number",
      "description": "Number of leases that ended without an outcome."
     },
     "id": {
      "type": "string",
      "description": "Id of the dependency, or of the task that it waited for."
     },
     "state": {
      "enum": [
       "canceled",
       "failed",
       "removed"
      ],
      "description": "State of that task; `removed`: its record was removed before it could finish."
     },
     "run": {
      "type": "string",
      "description": "The run that it belonged to."
     },
     "group": {
      "type": "string",
      "description": "The group of which it was a member."
     },
     "schedule": {
      "type": "string",
      "description": "Id of the schedule."
     },
     "slot": {
      "type": "number",
      "description": "The next slot, in ms since the epoch."
     },
     "reason": {
      "type": "string",
      "description": "Text of the caller, shown to people and never read by code."
     },
     "known": {
      "type": "array",
      "items": {
       "type": "string"
      },
      "description": "Names that it knows, as far as the worker lists them."
     },
     "what": {
      "enum": [
       "input",
       "journal",
       "upstreams"
      ],
      "description": "The data."
     }
    },
    "required": [
     "type"
    ],
    "description": "`failed`, `canceled`: the cause."
   },
   "idempotencyKey": {
    "type": "string",
    "description": "Its idempotency key."
   },
   "paused": {
    "$ref": "#/components/schemas/RunPause",
    "description": "It is a paused run."
   },
   "progress": {
    "$ref": "#/components/schemas/TaskProgress",
    "description": "Progress of its own handler."
   },
   "nodeProgress": {
    "type": "object",
    "additionalProperties": {
     "$ref": "#/components/schemas/TaskProgress"
    },
    "description": "Progress of the nodes of a driven run, by name."
   }
  },
  "required": [
   "priority",
   "id",
   "name",
   "queue",
   "user",
   "cost",
   "state",
   "createdAt",
   "failures",
   "losses",
   "releases",
   "dependsOn",
   "blockedBy",
   "cancelRequested"
  ]
 },
 "TaskError": {
  "description": "A stored error: plain data. With its causes it fits `LIMITS.errorBytes`.",
  "type": "object",
  "properties": {
   "name": {
    "type": "string",
    "description": "Its class, as `TypeError`; `Error` for a value that is no error. Cut at 100 characters."
   },
   "message": {
    "type": "string",
    "description": "Cut at 2,000 characters; a value that is no error as text or JSON."
   },
   "code": {
    "anyOf": [
     {
      "type": "number"
     },
     {
      "type": "string"
     }
    ],
    "description": "Code of the system, of a library, or of Fairloom if `own` is true."
   },
   "stack": {
    "type": "string",
    "description": "Cut so that the whole error fits; absent without one."
   },
   "cause": {
    "$ref": "#/components/schemas/TaskError",
    "description": "The `cause` of an error; up to 8 levels."
   },
   "errors": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/TaskError"
    },
    "description": "The `errors` of an `AggregateError`; the first 10."
   },
   "own": {
    "const": true,
    "description": "An error of Fairloom: `code` is a row of `docs/errors.md`."
   },
   "retryable": {
    "type": "boolean",
    "description": "Errors of Fairloom: whether a retry may help."
   },
   "delayMs": {
    "type": "number",
    "description": "`RetryAfter`, and groups with members that threw one: the delay, in ms."
   },
   "countAttempt": {
    "type": "boolean",
    "description": "With `delayMs`: whether it uses up one of the retries."
   },
   "isFinal": {
    "const": true,
    "description": "Groups: no retry helps, as their members reported."
   }
  },
  "required": [
   "name",
   "message"
  ]
 },
 "TaskDependents": {
  "description": "Number of dependents of a task, and the first of them.",
  "type": "object",
  "properties": {
   "count": {
    "type": "number",
    "description": "Number of all."
   },
   "awaitingRedrive": {
    "type": "number",
    "description": "Number of those that wait for a redrive."
   },
   "ids": {
    "type": "array",
    "items": {
     "type": "string"
    },
    "description": "Ids of the first five."
   }
  },
  "required": [
   "count",
   "awaitingRedrive",
   "ids"
  ]
 },
 "RunPause": {
  "description": "A pause in force.",
  "type": "object",
  "properties": {
   "since": {
    "type": "number",
    "description": "Start of the pause, in ms since the epoch on the backend's clock."
   },
   "reason": {
    "type": "string",
    "description": "Text of the caller that paused it, shown to people and never read by code."
   }
  },
  "required": [
   "since"
  ]
 },
 "TaskProgress": {
  "description": "The latest report of a handler by `ctx.progress`.",
  "type": "object",
  "properties": {
   "attempt": {
    "type": "number",
    "description": "Number of the attempt that reported it, from 1."
   },
   "fraction": {
    "type": "number",
    "description": "From 0 to 1."
   },
   "message": {
    "type": "string",
    "description": "Text of the report; absent without one."
   },
   "at": {
    "type": "number",
    "description": "Moment of the report, in ms since the epoch on the clock of its process."
   }
  },
  "required": [
   "attempt",
   "fraction",
   "at"
  ]
 },
 "TaskDetails": {
  "description": "A task with its attempts.",
  "type": "object",
  "properties": {
   "attempts": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/AttemptInfo"
    },
    "description": "The newest last."
   },
   "version": {
    "type": "string",
    "description": "Version of its code; absent: the newest of its worker."
   },
   "priority": {
    "enum": [
     1,
     2,
     3,
     4,
     5,
     6
    ],
    "description": "Priority among its user's tasks, 1 to 6."
   },
   "input": {
    "description": "Input of the task; absent if it cannot be read, and in listings without `values`."
   },
   "result": {
    "description": "`finished`: result of the handler; absent as `input`."
   },
   "encryptedWith": {
    "type": "string",
    "description": "Input or result cannot be read here: id of the key that encrypts them."
   },
   "failureType": {
    "enum": [
     "error",
     "expired",
     "invalid-payload",
     "invalid-result",
     "lost",
     "timeout",
     "unknown-task",
     "upstream"
    ],
    "description": "`failed`: kind of failure, see `cause`."
   },
   "error": {
    "$ref": "#/components/schemas/TaskError",
    "description": "The latest error."
   },
   "metadata": {
    "type": "object",
    "additionalProperties": {},
    "description": "Metadata set with `ctx.metadata`; absent in listings, and without any."
   },
   "dependents": {
    "$ref": "#/components/schemas/TaskDependents",
    "description": "Its dependents; absent in listings."
   },
   "id": {
    "type": "string",
    "description": "Unique among all tasks."
   },
   "name": {
    "type": "string",
    "description": "Name of the task; it selects the handler."
   },
   "queue": {
    "type": "string",
    "description": "Queue of the task."
   },
   "user": {
    "type": "string",
    "description": "User of the task."
   },
   "cost": {
    "type": "number",
    "description": "Cost of its turn; default 1."
   },
   "state": {
    "enum": [
     "canceled",
     "deferred",
     "failed",
     "finished",
     "queued",
     "scheduled",
     "started"
    ],
    "description": "State of the task."
   },
   "createdAt": {
    "type": "number",
    "description": "Moment of the enqueue."
   },
   "failures": {
    "type": "number",
    "description": "Number of failed attempts; the current or next attempt has the number `failures + 1`."
   },
   "losses": {
    "type": "number",
    "description": "Number of leases that ended without an outcome."
   },
   "releases": {
    "type": "number",
    "description": "Number of times that its handler released it; these are no attempts."
   },
   "dependsOn": {
    "type": "array",
    "items": {
     "type": "string"
    },
    "description": "Ids of its dependencies."
   },
   "blockedBy": {
    "type": "array",
    "items": {
     "type": "string"
    },
    "description": "Ids in `dependsOn` that are not satisfied yet."
   },
   "cancelRequested": {
    "type": "boolean",
    "description": "It runs, and a cancel was requested."
   },
   "dueAt": {
    "type": "number",
    "description": "`scheduled`: its due time."
   },
   "expiresAt": {
    "type": "number",
    "description": "Until its first start: the moment at which it ends as `failed(expired)`."
   },
   "token": {
    "type": "string",
    "description": "`started`: token of its lease."
   },
   "worker": {
    "type": "string",
    "description": "`started`: id of its worker."
   },
   "leasedAt": {
    "type": "number",
    "description": "`started`: moment of the lease."
   },
   "leaseUntil": {
    "type": "number",
    "description": "`started`: end of the lease unless it is extended."
   },
   "endedAt": {
    "type": "number",
    "description": "End states: moment of the end."
   },
   "cause": {
    "type": "object",
    "properties": {
     "type": {
      "enum": [
       "attempts",
       "cancel-run",
       "decider",
       "expired",
       "fatal",
       "given-up",
       "group-ended",
       "lost",
       "node-waits",
       "paused",
       "request",
       "retry-after",
       "run-ended",
       "schedule",
       "shutdown",
       "terminate",
       "unknown-here",
       "unknown-task",
       "unread",
       "upstream",
       "waited"
      ]
     },
     "failure": {
      "enum": [
       "error",
       "expired",
       "invalid-payload",
       "invalid-result",
       "lost",
       "timeout",
       "unknown-task",
       "upstream"
      ],
      "description": "Kind of failure of the newest attempt."
     },
     "made": {
      "type": "number",
      "description": "Number of failed attempts."
     },
     "of": {
      "type": "number",
      "description": "Number of attempts that the task may have."
     },
     "node": {
      "type": "string",
      "description": "Driven run: the node that failed."
     },
     "task": {
      "type": "string",
      "description": "The failed task, if that node is a group of tasks."
     },
     "fingerprint": {
      "type": "string",
      "description": "Fingerprint of the error, equal for similar errors; absent with `task`."
     },
     "leases": {
      "type": "number",
      "description": "Number of leases that ended without an outcome."
     },
     "id": {
      "type": "string",
      "description": "Id of the dependency, or of the task that it waited for."
     },
     "state": {
      "enum": [
       "canceled",
       "failed",
       "removed"
      ],
      "description": "State of that task; `removed`: its record was removed before it could finish."
     },
     "run": {
      "type": "string",
      "description": "The run that it belonged to."
     },
     "group": {
      "type": "string",
      "description": "The group of which it was a member."
     },
     "schedule": {
      "type": "string",
      "description": "Id of the schedule."
     },
     "slot": {
      "type": "number",
      "description": "The next slot, in ms since the epoch."
     },
     "reason": {
      "type": "string",
      "description": "Text of the caller, shown to people and never read by code."
     },
     "known": {
      "type": "array",
      "items": {
       "type": "string"
      },
      "description": "Names that it knows, as far as the worker lists them."
     },
     "what": {
      "enum": [
       "input",
       "journal",
       "upstreams"
      ],
      "description": "The data."
     }
    },
    "required": [
     "type"
    ],
    "description": "`failed`, `canceled`: the cause."
   },
   "idempotencyKey": {
    "type": "string",
    "description": "Its idempotency key."
   },
   "paused": {
    "$ref": "#/components/schemas/RunPause",
    "description": "It is a paused run."
   },
   "progress": {
    "$ref": "#/components/schemas/TaskProgress",
    "description": "Progress of its own handler."
   },
   "nodeProgress": {
    "type": "object",
    "additionalProperties": {
     "$ref": "#/components/schemas/TaskProgress"
    },
    "description": "Progress of the nodes of a driven run, by name."
   }
  },
  "required": [
   "attempts",
   "priority",
   "id",
   "name",
   "queue",
   "user",
   "cost",
   "state",
   "createdAt",
   "failures",
   "losses",
   "releases",
   "dependsOn",
   "blockedBy",
   "cancelRequested"
  ]
 },
 "AttemptInfo": {
  "description": "One attempt of a task.",
  "type": "object",
  "properties": {
   "error": {
    "$ref": "#/components/schemas/TaskError",
    "description": "Error that the handler threw."
   },
   "attempt": {
    "type": "number",
    "description": "From 1; a lost or released lease has the number of the attempt that it would have been."
   },
   "worker": {
    "type": "string",
    "description": "Id of the worker."
   },
   "leasedAt": {
    "type": "number",
    "description": "Moment of the lease."
   },
   "endedAt": {
    "type": "number",
    "description": "Moment when it was settled or lost its lease."
   },
   "outcome": {
    "enum": [
     "canceled",
     "failed",
     "lost",
     "released",
     "succeeded"
    ],
    "description": "Outcome of the handler; `lost` when the worker never reported."
   },
   "decision": {
    "enum": [
     "cancel",
     "dead-letter",
     "finish",
     "release",
     "retry"
    ],
    "description": "Decision about the task."
   },
   "cause": {
    "type": "object",
    "properties": {
     "type": {
      "enum": [
       "attempts",
       "cancel-run",
       "decider",
       "expired",
       "fatal",
       "given-up",
       "group-ended",
       "lost",
       "node-waits",
       "paused",
       "request",
       "retry-after",
       "run-ended",
       "schedule",
       "shutdown",
       "terminate",
       "unknown-here",
       "unknown-task",
       "unread",
       "upstream",
       "waited"
      ]
     },
     "failure": {
      "enum": [
       "error",
       "expired",
       "invalid-payload",
       "invalid-result",
       "lost",
       "timeout",
       "unknown-task",
       "upstream"
      ],
      "description": "Kind of failure of the newest attempt."
     },
     "made": {
      "type": "number",
      "description": "Number of failed attempts."
     },
     "of": {
      "type": "number",
      "description": "Number of attempts that the task may have."
     },
     "node": {
      "type": "string",
      "description": "Driven run: the node that failed."
     },
     "task": {
      "type": "string",
      "description": "The failed task, if that node is a group of tasks."
     },
     "fingerprint": {
      "type": "string",
      "description": "Fingerprint of the error, equal for similar errors; absent with `task`."
     },
     "leases": {
      "type": "number",
      "description": "Number of leases that ended without an outcome."
     },
     "id": {
      "type": "string",
      "description": "Id of the dependency, or of the task that it waited for."
     },
     "state": {
      "enum": [
       "canceled",
       "failed",
       "removed"
      ],
      "description": "State of that task; `removed`: its record was removed before it could finish."
     },
     "run": {
      "type": "string",
      "description": "The run that it belonged to."
     },
     "group": {
      "type": "string",
      "description": "The group of which it was a member."
     },
     "schedule": {
      "type": "string",
      "description": "Id of the schedule."
     },
     "slot": {
      "type": "number",
      "description": "The next slot, in ms since the epoch."
     },
     "reason": {
      "type": "string",
      "description": "Text of the caller, shown to people and never read by code."
     },
     "known": {
      "type": "array",
      "items": {
       "type": "string"
      },
      "description": "Names that it knows, as far as the worker lists them."
     },
     "what": {
      "enum": [
       "input",
       "journal",
       "upstreams"
      ],
      "description": "The data."
     }
    },
    "required": [
     "type"
    ],
    "description": "Why it did not finish the task; absent when it did, or was lost."
   }
  },
  "required": [
   "attempt",
   "worker",
   "leasedAt",
   "endedAt",
   "outcome",
   "decision"
  ]
 },
 "AttemptList": {
  "description": "Attempts of one task.",
  "type": "object",
  "properties": {
   "items": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/AttemptInfo"
    },
    "description": "Those that did not end well, oldest first, and the last one when there are others."
   }
  },
  "required": [
   "items"
  ]
 },
 "LogList": {
  "description": "Lines of the log of one task.",
  "type": "object",
  "properties": {
   "items": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/TaskLogLine"
    },
    "description": "In order."
   },
   "next": {
    "type": "number",
    "description": "What `from` goes on with."
   }
  },
  "required": [
   "items",
   "next"
  ]
 },
 "TaskLogLine": {
  "description": "A line of the log of a task.",
  "type": "object",
  "properties": {
   "attempt": {
    "type": "number",
    "description": "Number of the attempt that wrote it, from 1."
   },
   "node": {
    "type": "string",
    "description": "The node of a driven run that wrote it; absent for the handler of the task itself."
   },
   "next": {
    "type": "number",
    "description": "Offset from which a reader continues after it."
   },
   "at": {
    "type": "number",
    "description": "When it was written, in ms since the epoch on the clock of that process."
   },
   "level": {
    "enum": [
     "error",
     "info",
     "warn"
    ],
    "description": "Its level; `debug` lines are not stored."
   },
   "message": {
    "type": "string",
    "description": "Its message."
   },
   "fields": {
    "type": "object",
    "additionalProperties": {},
    "description": "Logged data; absent without any, and when it was too long."
   }
  },
  "required": [
   "attempt",
   "next",
   "at",
   "level",
   "message"
  ]
 },
 "Explanation": {
  "description": "Why a task does not run, the nearest obstacle first.",
  "type": "object",
  "properties": {
   "id": {
    "type": "string",
    "description": "Id of the task."
   },
   "state": {
    "enum": [
     "canceled",
     "deferred",
     "failed",
     "finished",
     "queued",
     "scheduled",
     "started"
    ],
    "description": "State of the task."
   },
   "obstacles": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/Obstacle"
    },
    "description": "The nearest first."
   },
   "error": {
    "$ref": "#/components/schemas/TaskError",
    "description": "A failed task: the error of its last attempt."
   },
   "timeLeftMs": {
    "type": "number",
    "description": "A task that runs or waits: the rest of its `timeout`, which only counts while its handler works, in ms; absent if it is unknown. A handler that starts anew elsewhere has all of it."
   },
   "position": {
    "$ref": "#/components/schemas/Position",
    "description": "Present while it is queued."
   },
   "dependents": {
    "$ref": "#/components/schemas/TaskDependents",
    "description": "Its dependents; absent when there are none."
   }
  },
  "required": [
   "id",
   "state",
   "obstacles"
  ]
 },
 "Obstacle": {
  "description": "One reason why a task does not run now, or its outcome.",
  "type": "object",
  "properties": {
   "kind": {
    "enum": [
     "blocked",
     "canceling",
     "delayed",
     "ended",
     "in-line",
     "no-worker",
     "parked",
     "queue-at-limit",
     "queue-paused",
     "queue-rate",
     "run-ended",
     "run-paused",
     "running",
     "suspended",
     "user-at-limit",
     "user-paused",
     "user-rate",
     "waiting"
    ],
    "description": "Stable names for programs."
   },
   "text": {
    "type": "string",
    "description": "A sentence for people."
   },
   "command": {
    "type": "string",
    "description": "A command that helps, if there is one."
   }
  },
  "required": [
   "kind",
   "text"
  ]
 },
 "Position": {
  "description": "The place of a queued task.",
  "type": "object",
  "properties": {
   "place": {
    "type": "number",
    "description": "Place within its level and user, from 1."
   },
   "turnsBefore": {
    "type": "number",
    "description": "Number of turns of its user before its own, in all levels."
   },
   "usersAhead": {
    "type": "number",
    "description": "Number of users of its queue whose next turn comes before its user's."
   }
  },
  "required": [
   "place",
   "turnsBefore",
   "usersAhead"
  ]
 },
 "DependentList": {
  "description": "Who waits for a task.",
  "type": "object",
  "properties": {
   "items": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/Dependent"
    },
    "description": "In the order in which they are told of its end."
   },
   "count": {
    "type": "number",
    "description": "All of them that the caller may see, as far as they were looked at."
   },
   "cursor": {
    "type": "string",
    "description": "Asks for the next page; absent on the last."
   }
  },
  "required": [
   "items",
   "count"
  ]
 },
 "Dependent": {
  "description": "A task that waits for another.",
  "type": "object",
  "properties": {
   "id": {
    "type": "string",
    "description": "Its id."
   },
   "name": {
    "type": "string",
    "description": "Its name."
   },
   "user": {
    "type": "string",
    "description": "Its user."
   },
   "state": {
    "enum": [
     "canceled",
     "deferred",
     "failed",
     "finished",
     "queued",
     "scheduled",
     "started"
    ],
    "description": "`deferred`, or `scheduled` before its due time."
   },
   "waits": {
    "enum": [
     "end",
     "redrive",
     "suspended"
    ],
    "description": "What it waits for: the `end` of the other task; its `redrive`, after an end other than `finished`; `suspended`: it is a run that continues after any end of the other task."
   },
   "onFailure": {
    "enum": [
     "cancel",
     "fail",
     "run",
     "wait"
    ],
    "description": "Reaction to a failure; absent for a suspended task."
   },
   "onCancel": {
    "enum": [
     "cancel",
     "fail",
     "run",
     "wait"
    ],
    "description": "Reaction to a cancel; absent for a suspended task."
   }
  },
  "required": [
   "id",
   "name",
   "user",
   "state",
   "waits"
  ]
 },
 "StreamList": {
  "description": "The streams of one task.",
  "type": "object",
  "properties": {
   "items": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/StreamFacts"
    },
    "description": "By name."
   }
  },
  "required": [
   "items"
  ]
 },
 "StreamFacts": {
  "description": "Facts about one stream.",
  "type": "object",
  "properties": {
   "name": {
    "type": "string",
    "description": "Name of the stream."
   },
   "first": {
    "type": "number",
    "description": "The first kept offset."
   },
   "next": {
    "type": "number",
    "description": "The next offset, which is the number of offsets ever used."
   },
   "bytes": {
    "type": "number",
    "description": "Size of the kept part, in bytes as stored."
   },
   "closed": {
    "type": "boolean",
    "description": "It is closed; only another attempt may reopen it."
   }
  },
  "required": [
   "name",
   "first",
   "next",
   "bytes",
   "closed"
  ]
 },
 "StreamRows": {
  "description": "A part of one stream.",
  "type": "object",
  "properties": {
   "items": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/StreamRow"
    },
    "description": "In order."
   },
   "next": {
    "type": "number",
    "description": "What `from` goes on with."
   }
  },
  "required": [
   "items",
   "next"
  ]
 },
 "StreamRow": {
  "description": "A chunk of a stream, where an attempt begins anew, or a gap.",
  "type": "object",
  "properties": {
   "type": {
    "enum": [
     "chunk",
     "gap",
     "reset"
    ],
    "description": "Which of these it is."
   },
   "offset": {
    "type": "number",
    "description": "Rises through the whole stream, from 0."
   },
   "next": {
    "type": "number",
    "description": "What `--from` goes on with."
   },
   "attempt": {
    "type": "number",
    "description": "Who wrote it, or begins; absent for a gap."
   },
   "node": {
    "type": "string",
    "description": "The node of a driven run."
   },
   "value": {
    "description": "What was written."
   }
  },
  "required": [
   "type",
   "offset",
   "next"
  ]
 },
 "RunPage": {
  "description": "Some runs.",
  "type": "object",
  "properties": {
   "items": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/RunInfo"
    },
    "description": "In the order of the listing."
   },
   "cursor": {
    "type": "string",
    "description": "Asks for the next page; absent on the last."
   }
  },
  "required": [
   "items"
  ]
 },
 "RunInfo": {
  "description": "One run. Moments are ms since the epoch by the backend's clock.",
  "type": "object",
  "properties": {
   "id": {
    "type": "string",
    "description": "Id of the run."
   },
   "name": {
    "type": "string",
    "description": "Name of its pipeline."
   },
   "form": {
    "enum": [
     "dispatched",
     "driven"
    ],
    "description": "Its form."
   },
   "state": {
    "enum": [
     "canceled",
     "deferred",
     "failed",
     "finished",
     "queued",
     "scheduled",
     "started"
    ],
    "description": "State of the run; `deferred` while it waits for its nodes."
   },
   "user": {
    "type": "string",
    "description": "User of its tasks."
   },
   "queue": {
    "type": "string",
    "description": "Queue of the run; nodes may have other queues."
   },
   "priority": {
    "enum": [
     1,
     2,
     3,
     4,
     5,
     6
    ],
    "description": "Priority of its tasks unless they have their own, 1 to 6."
   },
   "graph": {
    "type": "string",
    "description": "Hash of its graph; see `loom.graphs.get`."
   },
   "createdAt": {
    "type": "number",
    "description": "Moment of the enqueue."
   },
   "endedAt": {
    "type": "number",
    "description": "Moment of the end."
   },
   "input": {
    "description": "Input of the run; absent when it cannot be read."
   },
   "encryptedWith": {
    "type": "string",
    "description": "Id of the key with which the input is encrypted, if it cannot be read here."
   },
   "cause": {
    "type": "object",
    "properties": {
     "type": {
      "enum": [
       "attempts",
       "cancel-run",
       "decider",
       "expired",
       "fatal",
       "given-up",
       "group-ended",
       "lost",
       "node-waits",
       "paused",
       "request",
       "retry-after",
       "run-ended",
       "schedule",
       "shutdown",
       "terminate",
       "unknown-here",
       "unknown-task",
       "unread",
       "upstream",
       "waited"
      ]
     },
     "failure": {
      "enum": [
       "error",
       "expired",
       "invalid-payload",
       "invalid-result",
       "lost",
       "timeout",
       "unknown-task",
       "upstream"
      ],
      "description": "Kind of failure of the newest attempt."
     },
     "made": {
      "type": "number",
      "description": "Number of failed attempts."
     },
     "of": {
      "type": "number",
      "description": "Number of attempts that the task may have."
     },
     "node": {
      "type": "string",
      "description": "Driven run: the node that failed."
     },
     "task": {
      "type": "string",
      "description": "The failed task, if that node is a group of tasks."
     },
     "fingerprint": {
      "type": "string",
      "description": "Fingerprint of the error, equal for similar errors; absent with `task`."
     },
     "leases": {
      "type": "number",
      "description": "Number of leases that ended without an outcome."
     },
     "id": {
      "type": "string",
      "description": "Id of the dependency, or of the task that it waited for."
     },
     "state": {
      "enum": [
       "canceled",
       "failed",
       "removed"
      ],
      "description": "State of that task; `removed`: its record was removed before it could finish."
     },
     "run": {
      "type": "string",
      "description": "The run that it belonged to."
     },
     "group": {
      "type": "string",
      "description": "The group of which it was a member."
     },
     "schedule": {
      "type": "string",
      "description": "Id of the schedule."
     },
     "slot": {
      "type": "number",
      "description": "The next slot, in ms since the epoch."
     },
     "reason": {
      "type": "string",
      "description": "Text of the caller, shown to people and never read by code."
     },
     "known": {
      "type": "array",
      "items": {
       "type": "string"
      },
      "description": "Names that it knows, as far as the worker lists them."
     },
     "what": {
      "enum": [
       "input",
       "journal",
       "upstreams"
      ],
      "description": "The data."
     }
    },
    "required": [
     "type"
    ],
    "description": "Why it did not finish."
   },
   "error": {
    "$ref": "#/components/schemas/TaskError",
    "description": "`failed`: the error of the task that failed first; absent without one, as after a timeout."
   },
   "past": {
    "type": "array",
    "items": {
     "type": "string"
    },
    "description": "Runs whose results it uses, the newest first."
   },
   "forkedFrom": {
    "type": "string",
    "description": "The run of which it is a fork."
   },
   "paused": {
    "$ref": "#/components/schemas/RunPause",
    "description": "The pause, during which none of its tasks starts."
   }
  },
  "required": [
   "id",
   "name",
   "form",
   "state",
   "user",
   "queue",
   "priority",
   "graph",
   "createdAt"
  ]
 },
 "RunDetails": {
  "description": "One run with its nodes.",
  "type": "object",
  "properties": {
   "metadata": {
    "type": "object",
    "additionalProperties": {},
    "description": "Values of `ctx.metadata`; absent without any."
   },
   "result": {
    "description": "`finished`: the output of its pipeline; absent when a part of it is removed."
   },
   "nodes": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/RunNodeInfo"
    },
    "description": "Its nodes in the order of the graph, each after its dependencies; a group is listed at its end. Empty when the graph cannot be read here."
   },
   "id": {
    "type": "string",
    "description": "Id of the run."
   },
   "name": {
    "type": "string",
    "description": "Name of its pipeline."
   },
   "form": {
    "enum": [
     "dispatched",
     "driven"
    ],
    "description": "Its form."
   },
   "state": {
    "enum": [
     "canceled",
     "deferred",
     "failed",
     "finished",
     "queued",
     "scheduled",
     "started"
    ],
    "description": "State of the run; `deferred` while it waits for its nodes."
   },
   "user": {
    "type": "string",
    "description": "User of its tasks."
   },
   "queue": {
    "type": "string",
    "description": "Queue of the run; nodes may have other queues."
   },
   "priority": {
    "enum": [
     1,
     2,
     3,
     4,
     5,
     6
    ],
    "description": "Priority of its tasks unless they have their own, 1 to 6."
   },
   "graph": {
    "type": "string",
    "description": "Hash of its graph; see `loom.graphs.get`."
   },
   "createdAt": {
    "type": "number",
    "description": "Moment of the enqueue."
   },
   "endedAt": {
    "type": "number",
    "description": "Moment of the end."
   },
   "input": {
    "description": "Input of the run; absent when it cannot be read."
   },
   "encryptedWith": {
    "type": "string",
    "description": "Id of the key with which the input is encrypted, if it cannot be read here."
   },
   "cause": {
    "type": "object",
    "properties": {
     "type": {
      "enum": [
       "attempts",
       "cancel-run",
       "decider",
       "expired",
       "fatal",
       "given-up",
       "group-ended",
       "lost",
       "node-waits",
       "paused",
       "request",
       "retry-after",
       "run-ended",
       "schedule",
       "shutdown",
       "terminate",
       "unknown-here",
       "unknown-task",
       "unread",
       "upstream",
       "waited"
      ]
     },
     "failure": {
      "enum": [
       "error",
       "expired",
       "invalid-payload",
       "invalid-result",
       "lost",
       "timeout",
       "unknown-task",
       "upstream"
      ],
      "description": "Kind of failure of the newest attempt."
     },
     "made": {
      "type": "number",
      "description": "Number of failed attempts."
     },
     "of": {
      "type": "number",
      "description": "Number of attempts that the task may have."
     },
     "node": {
      "type": "string",
      "description": "Driven run: the node that failed."
     },
     "task": {
      "type": "string",
      "description": "The failed task, if that node is a group of tasks."
     },
     "fingerprint": {
      "type": "string",
      "description": "Fingerprint of the error, equal for similar errors; absent with `task`."
     },
     "leases": {
      "type": "number",
      "description": "Number of leases that ended without an outcome."
     },
     "id": {
      "type": "string",
      "description": "Id of the dependency, or of the task that it waited for."
     },
     "state": {
      "enum": [
       "canceled",
       "failed",
       "removed"
      ],
      "description": "State of that task; `removed`: its record was removed before it could finish."
     },
     "run": {
      "type": "string",
      "description": "The run that it belonged to."
     },
     "group": {
      "type": "string",
      "description": "The group of which it was a member."
     },
     "schedule": {
      "type": "string",
      "description": "Id of the schedule."
     },
     "slot": {
      "type": "number",
      "description": "The next slot, in ms since the epoch."
     },
     "reason": {
      "type": "string",
      "description": "Text of the caller, shown to people and never read by code."
     },
     "known": {
      "type": "array",
      "items": {
       "type": "string"
      },
      "description": "Names that it knows, as far as the worker lists them."
     },
     "what": {
      "enum": [
       "input",
       "journal",
       "upstreams"
      ],
      "description": "The data."
     }
    },
    "required": [
     "type"
    ],
    "description": "Why it did not finish."
   },
   "error": {
    "$ref": "#/components/schemas/TaskError",
    "description": "`failed`: the error of the task that failed first; absent without one, as after a timeout."
   },
   "past": {
    "type": "array",
    "items": {
     "type": "string"
    },
    "description": "Runs whose results it uses, the newest first."
   },
   "forkedFrom": {
    "type": "string",
    "description": "The run of which it is a fork."
   },
   "paused": {
    "$ref": "#/components/schemas/RunPause",
    "description": "The pause, during which none of its tasks starts."
   }
  },
  "required": [
   "nodes",
   "id",
   "name",
   "form",
   "state",
   "user",
   "queue",
   "priority",
   "graph",
   "createdAt"
  ]
 },
 "RunNodeInfo": {
  "description": "One node of a run.",
  "type": "object",
  "properties": {
   "node": {
    "type": "string",
    "description": "Name of the node in the graph."
   },
   "member": {
    "type": "string",
    "description": "Key of the member of a `parallel`, if it differs from the node's name."
   },
   "state": {
    "enum": [
     "canceled",
     "deferred",
     "failed",
     "finished",
     "gone",
     "pending",
     "queued",
     "scheduled",
     "skipped",
     "started"
    ],
    "description": "State of the node."
   },
   "taskId": {
    "type": "string",
    "description": "Id for `loom.tasks`; absent when it is not a task of the queue."
   },
   "error": {
    "$ref": "#/components/schemas/TaskError",
    "description": "Error of its latest failure."
   }
  },
  "required": [
   "node",
   "state"
  ]
 },
 "GraphStates": {
  "description": "A graph, and where its nodes stand.",
  "type": "object",
  "properties": {
   "graph": {
    "$ref": "#/components/schemas/TaskGraph",
    "description": "As it is stored."
   },
   "states": {
    "type": "object",
    "additionalProperties": {
     "enum": [
      "canceled",
      "deferred",
      "failed",
      "finished",
      "gone",
      "pending",
      "queued",
      "scheduled",
      "skipped",
      "started"
     ]
    },
    "description": "By node; empty for a graph without a run."
   }
  },
  "required": [
   "graph",
   "states"
  ]
 },
 "Timeline": {
  "description": "When the nodes of a run ran.",
  "type": "object",
  "properties": {
   "id": {
    "type": "string",
    "description": "The run."
   },
   "from": {
    "type": "number",
    "description": "When it was enqueued."
   },
   "to": {
    "type": "number",
    "description": "When it ended; absent while it has not."
   },
   "spans": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/TimelineSpan"
    },
    "description": "Of each node that is a task, that task and each of its attempts that is kept, by when they began."
   },
   "isCut": {
    "type": "boolean",
    "description": "There are more nodes than were looked at."
   }
  },
  "required": [
   "id",
   "from",
   "spans",
   "isCut"
  ]
 },
 "TimelineSpan": {
  "description": "One stretch of a timeline.",
  "type": "object",
  "properties": {
   "node": {
    "type": "string",
    "description": "The node."
   },
   "taskId": {
    "type": "string",
    "description": "The task that it is."
   },
   "kind": {
    "enum": [
     "attempt",
     "running",
     "task"
    ],
    "description": "`task`: from its enqueue to its end; `attempt`: one that is over; `running`: the one in hand."
   },
   "attempt": {
    "type": "number",
    "description": "Of an attempt: its number, from 1."
   },
   "outcome": {
    "type": "string",
    "description": "How that ended."
   },
   "from": {
    "type": "number",
    "description": "When it began."
   },
   "to": {
    "type": "number",
    "description": "When it was over; absent while it is not."
   }
  },
  "required": [
   "node",
   "taskId",
   "kind",
   "from"
  ]
 },
 "RunExplanation": {
  "description": "Why a run has not ended: the nodes that it waits for.",
  "type": "object",
  "properties": {
   "id": {
    "type": "string",
    "description": "Id of the run."
   },
   "state": {
    "enum": [
     "canceled",
     "deferred",
     "failed",
     "finished",
     "queued",
     "scheduled",
     "started"
    ],
    "description": "State of the run."
   },
   "counts": {
    "type": "object",
    "additionalProperties": {
     "type": "number"
    },
    "description": "Number of nodes in each state."
   },
   "waitsFor": {
    "type": "array",
    "items": {
     "type": "object",
     "properties": {
      "node": {
       "type": "string",
       "description": "Name in the graph; empty: the run itself, if its own task waits."
      },
      "why": {
       "$ref": "#/components/schemas/Explanation",
       "description": "Explanation of the node's task."
      }
     },
     "required": [
      "node",
      "why"
     ]
    },
    "description": "Nodes and members of groups that wait for no other one of the run, each with its reason: a worker, a slot, a signal, an answer, an event, a time; at most 20."
   },
   "causes": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/RunCause"
    },
    "description": "First failures or cancels of a run that did not finish, the earliest first; at most 20."
   },
   "paused": {
    "$ref": "#/components/schemas/RunPause",
    "description": "Pause of the run; none of its tasks starts."
   },
   "command": {
    "type": "string",
    "description": "Command that resumes a failed or paused run."
   }
  },
  "required": [
   "id",
   "state",
   "counts",
   "waitsFor",
   "causes"
  ]
 },
 "RunCause": {
  "description": "A task that failed or was canceled first, not because of another one.",
  "type": "object",
  "properties": {
   "node": {
    "type": "string",
    "description": "Id of its node in the graph, for a member with its name in the group; a group without a name has an id such as `~group.a`, which texts call `group of a`. Empty for the run itself."
   },
   "taskId": {
    "type": "string",
    "description": "Id of the task."
   },
   "attempt": {
    "type": "number",
    "description": "Number of its latest attempt; 0: it was never started."
   },
   "cause": {
    "type": "object",
    "properties": {
     "type": {
      "enum": [
       "attempts",
       "cancel-run",
       "decider",
       "expired",
       "fatal",
       "given-up",
       "group-ended",
       "lost",
       "node-waits",
       "paused",
       "request",
       "retry-after",
       "run-ended",
       "schedule",
       "shutdown",
       "terminate",
       "unknown-here",
       "unknown-task",
       "unread",
       "upstream",
       "waited"
      ]
     },
     "failure": {
      "enum": [
       "error",
       "expired",
       "invalid-payload",
       "invalid-result",
       "lost",
       "timeout",
       "unknown-task",
       "upstream"
      ],
      "description": "Kind of failure of the newest attempt."
     },
     "made": {
      "type": "number",
      "description": "Number of failed attempts."
     },
     "of": {
      "type": "number",
      "description": "Number of attempts that the task may have."
     },
     "node": {
      "type": "string",
      "description": "Driven run: the node that failed."
     },
     "task": {
      "type": "string",
      "description": "The failed task, if that node is a group of tasks."
     },
     "fingerprint": {
      "type": "string",
      "description": "Fingerprint of the error, equal for similar errors; absent with `task`."
     },
     "leases": {
      "type": "number",
      "description": "Number of leases that ended without an outcome."
     },
     "id": {
      "type": "string",
      "description": "Id of the dependency, or of the task that it waited for."
     },
     "state": {
      "enum": [
       "canceled",
       "failed",
       "removed"
      ],
      "description": "State of that task; `removed`: its record was removed before it could finish."
     },
     "run": {
      "type": "string",
      "description": "The run that it belonged to."
     },
     "group": {
      "type": "string",
      "description": "The group of which it was a member."
     },
     "schedule": {
      "type": "string",
      "description": "Id of the schedule."
     },
     "slot": {
      "type": "number",
      "description": "The next slot, in ms since the epoch."
     },
     "reason": {
      "type": "string",
      "description": "Text of the caller, shown to people and never read by code."
     },
     "known": {
      "type": "array",
      "items": {
       "type": "string"
      },
      "description": "Names that it knows, as far as the worker lists them."
     },
     "what": {
      "enum": [
       "input",
       "journal",
       "upstreams"
      ],
      "description": "The data."
     }
    },
    "required": [
     "type"
    ],
    "description": "Its cause, as data."
   },
   "error": {
    "$ref": "#/components/schemas/TaskError",
    "description": "Error of its latest attempt."
   }
  },
  "required": [
   "node",
   "taskId",
   "attempt"
  ]
 },
 "TaskPage": {
  "description": "Some tasks.",
  "type": "object",
  "properties": {
   "items": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/TaskInfo"
    },
    "description": "In the order of the listing."
   },
   "cursor": {
    "type": "string",
    "description": "Asks for the next page; absent on the last."
   }
  },
  "required": [
   "items"
  ]
 },
 "ErrorGroupPage": {
  "description": "What tasks failed with.",
  "type": "object",
  "properties": {
   "items": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/ErrorGroup"
    },
    "description": "Of failed tasks first; of each the one that was seen last first."
   },
   "cursor": {
    "type": "string",
    "description": "Asks for the next page; absent on the last."
   },
   "searched": {
    "type": "number",
    "description": "For a caller of some users: so many of their failed tasks were counted, the oldest first."
   },
   "isCut": {
    "type": "boolean",
    "description": "For the same: whether there may be more that were not."
   }
  },
  "required": [
   "items"
  ]
 },
 "ErrorGroup": {
  "description": "Similar failures, and their number. Moments are ms since the epoch on the backend's clock.",
  "type": "object",
  "properties": {
   "name": {
    "type": "string",
    "description": "Name of the task, or of the pipeline of a run that failed by itself; absent if the sample was removed."
   },
   "error": {
    "type": "string",
    "description": "Class of the error, or the kind of failure without one, such as `lost`; absent as `name`."
   },
   "message": {
    "type": "string",
    "description": "Common text of the messages, `…` for what differs; absent without an error or a sample."
   },
   "id": {
    "type": "string",
    "description": "Its id in filters."
   },
   "failed": {
    "type": "number",
    "description": "Number of kept failed tasks."
   },
   "attempts": {
    "type": "number",
    "description": "Number of failed attempts since the group is known, including retried ones."
   },
   "firstAt": {
    "type": "number",
    "description": "First failure, in ms since the epoch."
   },
   "lastAt": {
    "type": "number",
    "description": "Latest failure, in ms since the epoch."
   },
   "sample": {
    "type": "string",
    "description": "Id of the latest failed task; without one, of the task whose attempt failed last, which may be removed."
   }
  },
  "required": [
   "id",
   "failed",
   "attempts",
   "firstAt",
   "lastAt",
   "sample"
  ]
 },
 "SchedulePage": {
  "description": "Some schedules.",
  "type": "object",
  "properties": {
   "items": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/ScheduleInfo"
    },
    "description": "By name."
   },
   "cursor": {
    "type": "string",
    "description": "Asks for the next page; absent on the last."
   }
  },
  "required": [
   "items"
  ]
 },
 "ScheduleInfo": {
  "description": "Facts about one schedule. Moments are ms since the epoch; durations are ms.",
  "type": "object",
  "properties": {
   "id": {
    "type": "string",
    "description": "Id of the schedule."
   },
   "task": {
    "type": "string",
    "description": "Name of its task or pipeline."
   },
   "version": {
    "type": "string",
    "description": "Version of its tasks' code; absent for a pipeline, whose graph has it."
   },
   "graph": {
    "type": "string",
    "description": "Hash of the pipeline's graph."
   },
   "event": {
    "type": "string",
    "description": "Name of its events; absent: it fires by the clock."
   },
   "key": {
    "type": "string",
    "description": "Key of its events."
   },
   "cron": {
    "type": "string",
    "description": "Cron pattern; either this or `everyMs`."
   },
   "timeZone": {
    "type": "string",
    "description": "Time zone of the pattern."
   },
   "everyMs": {
    "type": "number",
    "description": "Period."
   },
   "anchor": {
    "type": "number",
    "description": "Start of the period."
   },
   "start": {
    "type": "number",
    "description": "No slot before this moment."
   },
   "end": {
    "type": "number",
    "description": "No slot after this moment."
   },
   "limit": {
    "type": "number",
    "description": "Most tasks of the schedule."
   },
   "jitterMs": {
    "type": "number",
    "description": "Longest delay of a slot."
   },
   "missed": {
    "enum": [
     "all",
     "one",
     "skip"
    ],
    "description": "Policy for missed slots."
   },
   "overlap": {
    "enum": [
     "allow",
     "cancel-previous",
     "queue-one",
     "skip"
    ],
    "description": "Policy while an earlier task has not ended."
   },
   "input": {
    "description": "Input of each task, with placeholders as `<slot.date>` for facts of the slot. Absent without one, or if it cannot be read."
   },
   "user": {
    "type": "string",
    "description": "User of its tasks."
   },
   "queue": {
    "type": "string",
    "description": "Queue of its tasks."
   },
   "priority": {
    "enum": [
     1,
     2,
     3,
     4,
     5,
     6
    ],
    "description": "Priority of its tasks, 1 to 6."
   },
   "state": {
    "enum": [
     "active",
     "over",
     "paused"
    ],
    "description": "`active`: it fires; `paused`; `over`: no slot is left."
   },
   "nextAt": {
    "type": "number",
    "description": "The next slot."
   },
   "lastAt": {
    "type": "number",
    "description": "The latest slot, or moment of an event, that stored a task."
   },
   "lastTaskId": {
    "type": "string",
    "description": "Id of that task."
   },
   "fired": {
    "type": "number",
    "description": "Number of its tasks."
   },
   "missedSlots": {
    "type": "number",
    "description": "Number of slots that were missed or refused."
   },
   "overlappedSlots": {
    "type": "number",
    "description": "Number of slots skipped because an earlier task had not ended."
   },
   "createdAt": {
    "type": "number",
    "description": "Moment of its creation."
   },
   "updatedAt": {
    "type": "number",
    "description": "Moment of its last change."
   }
  },
  "required": [
   "id",
   "task",
   "missed",
   "overlap",
   "user",
   "queue",
   "priority",
   "state",
   "fired",
   "missedSlots",
   "overlappedSlots",
   "createdAt",
   "updatedAt"
  ]
 },
 "ScheduleSlots": {
  "description": "Slots that come next.",
  "type": "object",
  "properties": {
   "id": {
    "type": "string",
    "description": "The schedule."
   },
   "slots": {
    "type": "array",
    "items": {
     "type": "number"
    },
    "description": "In order, in ms since the epoch."
   }
  },
  "required": [
   "id",
   "slots"
  ]
 },
 "ScheduleHistory": {
  "description": "The slots of a schedule that came last.",
  "type": "object",
  "properties": {
   "id": {
    "type": "string",
    "description": "The schedule."
   },
   "items": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/Firing"
    },
    "description": "The oldest first; none of a schedule that fires at events."
   }
  },
  "required": [
   "id",
   "items"
  ]
 },
 "Firing": {
  "description": "One slot of a schedule that has passed.",
  "type": "object",
  "properties": {
   "slot": {
    "type": "number",
    "description": "In ms since the epoch."
   },
   "taskId": {
    "type": "string",
    "description": "Its task or run. Absent where none is stored: it was not fired, it was passed over, or the task is not kept any more."
   },
   "state": {
    "enum": [
     "canceled",
     "deferred",
     "failed",
     "finished",
     "queued",
     "scheduled",
     "started"
    ],
    "description": "Where that stands."
   }
  },
  "required": [
   "slot"
  ]
 },
 "AskPage": {
  "description": "Some open questions.",
  "type": "object",
  "properties": {
   "items": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/AskInfo"
    },
    "description": "The oldest first."
   },
   "cursor": {
    "type": "string",
    "description": "Asks for the next page; absent on the last."
   }
  },
  "required": [
   "items"
  ]
 },
 "AskInfo": {
  "description": "A question to people. Moments are ms since the epoch on the backend's clock.",
  "type": "object",
  "properties": {
   "id": {
    "type": "string",
    "description": "Unique id of the question."
   },
   "taskId": {
    "type": "string",
    "description": "Id of the task that asks."
   },
   "task": {
    "type": "string",
    "description": "Name of the task that asks."
   },
   "user": {
    "type": "string",
    "description": "User of the task."
   },
   "runId": {
    "type": "string",
    "description": "Run of the task; absent without one."
   },
   "title": {
    "type": "string",
    "description": "Text of the question; absent if it cannot be read here."
   },
   "choices": {
    "type": "array",
    "items": {
     "type": "string"
    },
    "description": "Permitted answers."
   },
   "for": {
    "type": "array",
    "items": {
     "type": "string"
    },
    "description": "Names of the people who may answer; empty: anyone."
   },
   "form": {
    "description": "JSON Schema of its form, or `true` for a form whose schema has no JSON Schema; absent without a form."
   },
   "state": {
    "enum": [
     "answered",
     "canceled",
     "ended",
     "open",
     "timed-out"
    ],
    "description": "State of the question. `ended`: its task has ended in another way."
   },
   "askedAt": {
    "type": "number",
    "description": "Moment of the question."
   },
   "until": {
    "type": "number",
    "description": "End of its time; absent without one."
   },
   "closedAt": {
    "type": "number",
    "description": "Moment when it was closed; absent while it is open."
   },
   "answer": {
    "type": "object",
    "properties": {
     "choice": {
      "type": "string",
      "description": "One of the choices of the question."
     },
     "by": {
      "type": "string",
      "description": "Name of the person who answers, a text of 1–128 bytes; stored with the answer, not checked."
     },
     "comment": {
      "type": "string",
      "description": "Comment, stored with the answer."
     },
     "form": {
      "description": "Data for the form of the question."
     }
    },
    "required": [
     "choice",
     "by"
    ],
    "description": "`answered`: the accepted answer."
   },
   "encryptedWith": {
    "type": "string",
    "description": "Its texts cannot be read here: id of the key that encrypts them."
   }
  },
  "required": [
   "id",
   "taskId",
   "task",
   "user",
   "choices",
   "for",
   "state",
   "askedAt"
  ]
 },
 "VersionReport": {
  "description": "Report about all versions.",
  "type": "object",
  "properties": {
   "versions": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/VersionStatus"
    },
    "description": "By name, the newest version first, those without a version last."
   },
   "looked": {
    "type": "number",
    "description": "Number of tasks that were read."
   },
   "complete": {
    "type": "boolean",
    "description": "False: some tasks were not read, so a 0 is not reliable."
   }
  },
  "required": [
   "versions",
   "looked",
   "complete"
  ]
 },
 "VersionStatus": {
  "description": "Open work of one version of a task, and its workers.",
  "type": "object",
  "properties": {
   "name": {
    "type": "string",
    "description": "Name of the task."
   },
   "version": {
    "type": "string",
    "description": "Version of its code; absent: tasks without one, which any worker with the name runs."
   },
   "tasks": {
    "type": "object",
    "properties": {
     "deferred": {
      "type": "number"
     },
     "queued": {
      "type": "number"
     },
     "scheduled": {
      "type": "number"
     },
     "started": {
      "type": "number"
     }
    },
    "required": [
     "deferred",
     "queued",
     "scheduled",
     "started"
    ],
    "description": "Number of tasks that have not ended, by state."
   },
   "runs": {
    "type": "number",
    "description": "Number of driven runs with this version that have not ended, whether or not they have reached the task."
   },
   "schedules": {
    "type": "number",
    "description": "Number of schedules whose tasks or runs have this version."
   },
   "needed": {
    "type": "number",
    "description": "Sum of these. At 0 nothing that was read needs the version."
   },
   "workers": {
    "type": "array",
    "items": {
     "type": "string"
    },
    "description": "Ids of the live workers that have it."
   }
  },
  "required": [
   "name",
   "tasks",
   "runs",
   "schedules",
   "needed",
   "workers"
  ]
 },
 "WorkerList": {
  "description": "The live workers.",
  "type": "object",
  "properties": {
   "items": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/WorkerInfo"
    },
    "description": "In no given order."
   }
  },
  "required": [
   "items"
  ]
 },
 "WorkerInfo": {
  "description": "A worker as it is stored.",
  "type": "object",
  "properties": {
   "startedAt": {
    "type": "number",
    "description": "Its first known registration, in ms since the epoch."
   },
   "lastSeenAt": {
    "type": "number",
    "description": "Its latest call, in ms since the epoch."
   },
   "running": {
    "type": "number",
    "description": "Tasks under its leases."
   },
   "attempts": {
    "$ref": "#/components/schemas/WorkerAttempts",
    "description": "Outcomes of its attempts since `startedAt`."
   },
   "id": {
    "type": "string",
    "description": "Unique among live workers."
   },
   "queues": {
    "type": "array",
    "items": {
     "type": "string"
    },
    "description": "The queues that it serves."
   },
   "names": {
    "type": "array",
    "items": {
     "type": "string"
    },
    "description": "Task names that it has handlers for; of versions both `resize` and `resize@2`."
   },
   "pipelines": {
    "type": "array",
    "items": {
     "type": "string"
    },
    "description": "Names of its pipelines, which run as runs and never as one task; absent: none."
   },
   "assignedUsers": {
    "type": "array",
    "items": {
     "type": "string"
    },
    "description": "Users that it serves first; without these and `stealTargets` it serves all."
   },
   "stealTargets": {
    "anyOf": [
     {
      "const": "any"
     },
     {
      "type": "array",
      "items": {
       "type": "string"
      }
     }
    ],
    "description": "Users that it serves when its assigned users have no task; `any`: all others."
   },
   "concurrency": {
    "type": "number",
    "description": "Its slots: how many tasks it runs at once."
   },
   "host": {
    "type": "string",
    "description": "Host and process id, for display."
   }
  },
  "required": [
   "startedAt",
   "lastSeenAt",
   "running",
   "attempts",
   "id",
   "queues",
   "names",
   "concurrency",
   "host"
  ]
 },
 "WorkerAttempts": {
  "description": "Attempts of one worker, by outcome. A retried task counts each time. Canceled and released tasks, and runs that only wait, are not counted.",
  "type": "object",
  "properties": {
   "succeeded": {
    "type": "number",
    "description": "The worker settled them, and their tasks finished."
   },
   "failed": {
    "type": "number",
    "description": "The worker settled them as failed, including those that are retried."
   },
   "lost": {
    "type": "number",
    "description": "Their leases ended before a settlement: the worker was blocked, disconnected or dead."
   }
  },
  "required": [
   "succeeded",
   "failed",
   "lost"
  ]
 },
 "BulkPage": {
  "description": "Changes of many tasks.",
  "type": "object",
  "properties": {
   "items": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/BulkInfo"
    },
    "description": "The newest first."
   },
   "cursor": {
    "type": "string",
    "description": "Asks for the next page; absent on the last."
   }
  },
  "required": [
   "items"
  ]
 },
 "BulkInfo": {
  "description": "A change of many tasks, and its progress. Moments are ms since the epoch on the backend's clock.",
  "type": "object",
  "properties": {
   "id": {
    "type": "string",
    "description": "Id of its task."
   },
   "action": {
    "enum": [
     "cancel",
     "redrive",
     "remove",
     "run-now"
    ],
    "description": "Action on each task."
   },
   "where": {
    "type": "string",
    "description": "Tasks to change, in the filter language."
   },
   "rate": {
    "$ref": "#/components/schemas/BulkRate",
    "description": "Rate of changes; absent: unlimited."
   },
   "dryRun": {
    "type": "boolean",
    "description": "It only counts."
   },
   "state": {
    "enum": [
     "canceled",
     "failed",
     "finished",
     "queued",
     "running"
    ],
    "description": "`queued`: no worker has started it."
   },
   "queue": {
    "type": "string",
    "description": "Queue whose workers run it."
   },
   "createdAt": {
    "type": "number",
    "description": "Moment of its start: later tasks and changes are not touched."
   },
   "startedAt": {
    "type": "number",
    "description": "Moment when a worker first ran it."
   },
   "endedAt": {
    "type": "number",
    "description": "End states: moment of the end."
   },
   "by": {
    "type": "string",
    "description": "Name of the person or program that started it."
   },
   "reason": {
    "type": "string",
    "description": "Reason."
   },
   "matched": {
    "type": "number",
    "description": "Number of tasks found so far, runs counted in place of their parts; absent before it runs."
   },
   "done": {
    "type": "number",
    "description": "Number of tasks that were changed."
   },
   "skipped": {
    "type": "number",
    "description": "Number of tasks that were gone, in use, or in another state at their turn."
   },
   "failed": {
    "type": "number",
    "description": "Number of failed changes."
   },
   "errors": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/BulkError"
    },
    "description": "The first ten errors."
   }
  },
  "required": [
   "id",
   "action",
   "where",
   "dryRun",
   "state",
   "queue",
   "createdAt",
   "done",
   "skipped",
   "failed",
   "errors"
  ]
 },
 "BulkRate": {
  "description": "Rate of changes.",
  "type": "object",
  "properties": {
   "limit": {
    "type": "number",
    "description": "Number of changes …"
   },
   "per": {
    "type": "number",
    "description": "… in this time, in ms."
   },
   "burst": {
    "type": "number",
    "description": "Number of changes at once after a pause."
   }
  },
  "required": [
   "limit",
   "per",
   "burst"
  ]
 },
 "BulkError": {
  "description": "A failed change of one task.",
  "type": "object",
  "properties": {
   "id": {
    "type": "string",
    "description": "Id of the task."
   },
   "error": {
    "type": "string",
    "description": "Message of the error."
   }
  },
  "required": [
   "id",
   "error"
  ]
 },
 "Change": {
  "description": "What became of one thing that an operation should change.",
  "type": "object",
  "properties": {
   "id": {
    "type": "string",
    "description": "The task, run or schedule; with `--dry-run` also the node of a run."
   },
   "ok": {
    "type": "boolean",
    "description": "Whether it was changed, or would be with `--dry-run`."
   },
   "outcome": {
    "type": "string",
    "description": "What was done or would be, or why not; for people."
   },
   "with": {
    "type": "string",
    "description": "`--dry-run`: it was not selected; it would end with this other one."
   }
  },
  "required": [
   "id",
   "ok",
   "outcome"
  ]
 },
 "AuditPage": {
  "description": "Changes that were asked for over HTTP.",
  "type": "object",
  "properties": {
   "items": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/AuditEntry"
    },
    "description": "The newest first."
   },
   "cursor": {
    "type": "string",
    "description": "Asks for the next page; absent on the last."
   }
  },
  "required": [
   "items"
  ]
 },
 "AuditEntry": {
  "description": "A change that was asked for, whether or not it was made.",
  "type": "object",
  "properties": {
   "requestId": {
    "type": "string",
    "description": "Of the request: answers and the log have it too."
   },
   "at": {
    "type": "number",
    "description": "When, in ms since the epoch on the clock of the server."
   },
   "by": {
    "type": "string",
    "description": "Who asked, as `access` says; absent when it does not."
   },
   "action": {
    "type": "string",
    "description": "The route, as `POST /tasks/{id}/cancel`."
   },
   "target": {
    "type": "string",
    "description": "What it named, or what was made; empty when that is nothing with an id."
   },
   "status": {
    "type": "number",
    "description": "The status that was answered."
   },
   "outcome": {
    "type": "string",
    "description": "What became of it, for people: the outcome, or the code of the problem."
   }
  },
  "required": [
   "requestId",
   "at",
   "action",
   "target",
   "status",
   "outcome"
  ]
 },
 "StoredTask": {
  "description": "A task that was stored, or was there before.",
  "type": "object",
  "properties": {
   "id": {
    "type": "string",
    "description": "Its id."
   },
   "created": {
    "type": "boolean",
    "description": "False when it was stored before."
   },
   "conflict": {
    "type": "boolean",
    "description": "Another task has this id or key, and this one was not stored."
   }
  },
  "required": [
   "id",
   "created",
   "conflict"
  ]
 },
 "SentSignal": {
  "description": "What became of a signal.",
  "type": "object",
  "properties": {
   "id": {
    "type": "string",
    "description": "The task or run that it was sent to."
   },
   "name": {
    "type": "string",
    "description": "Of the signal."
   },
   "outcome": {
    "enum": [
     "buffered",
     "delivered",
     "repeated"
    ],
    "description": "It ended a wait, is kept for the next one, or was sent before."
   }
  },
  "required": [
   "id",
   "name",
   "outcome"
  ]
 },
 "StoredRun": {
  "description": "A run that was stored.",
  "type": "object",
  "properties": {
   "id": {
    "type": "string",
    "description": "Its id."
   },
   "created": {
    "type": "boolean",
    "description": "False when it was stored before."
   }
  },
  "required": [
   "id",
   "created"
  ]
 },
 "GivenAnswer": {
  "description": "An answer that counts.",
  "type": "object",
  "properties": {
   "id": {
    "type": "string",
    "description": "The question."
   },
   "choice": {
    "type": "string",
    "description": "What was chosen."
   },
   "by": {
    "type": "string",
    "description": "Who has answered."
   }
  },
  "required": [
   "id",
   "choice",
   "by"
  ]
 },
 "PublishedEvent": {
  "description": "What became of an event.",
  "type": "object",
  "properties": {
   "name": {
    "type": "string",
    "description": "What has happened."
   },
   "key": {
    "type": "string",
    "description": "To what."
   },
   "outcome": {
    "enum": [
     "published",
     "repeated"
    ],
    "description": "`repeated`: it was published before under its id."
   }
  },
  "required": [
   "name",
   "key",
   "outcome"
  ]
 },
 "RunExport": {
  "description": "One run as JSON; see `docs/guide/workflows.md`.",
  "type": "object",
  "properties": {
   "format": {
    "const": "fairloom-run",
    "description": "Tells such a text from others."
   },
   "version": {
    "type": "number",
    "description": "Of this format; a reader refuses those that are newer than it."
   },
   "id": {
    "type": "string",
    "description": "The run."
   },
   "name": {
    "type": "string",
    "description": "The name of its pipeline."
   },
   "form": {
    "enum": [
     "dispatched",
     "driven"
    ],
    "description": "How it is carried out."
   },
   "state": {
    "enum": [
     "canceled",
     "deferred",
     "failed",
     "finished",
     "queued",
     "scheduled",
     "started"
    ],
    "description": "Where it stood, for people."
   },
   "user": {
    "type": "string",
    "description": "Whose turns its tasks take."
   },
   "said": {
    "$ref": "#/components/schemas/SaidPlace",
    "description": "What its enqueue said about the places of all its tasks."
   },
   "options": {
    "type": "object",
    "properties": {
     "retries": {
      "type": "number",
      "description": "How often a failed attempt is followed by another."
     },
     "backoff": {
      "type": "object",
      "properties": {
       "kind": {
        "enum": [
         "exponential",
         "fixed"
        ],
        "description": "The same wait each time, or twice as long each time."
       },
       "baseMs": {
        "type": "number",
        "description": "The wait, or the first of a growing series, in ms."
       },
       "maxMs": {
        "type": "number",
        "description": "Longest wait, in ms."
       },
       "jitter": {
        "enum": [
         "equal",
         "full",
         "none"
        ],
        "description": "What part of the wait is drawn by chance: all of it, its second half, or none."
       }
      },
      "required": [
       "kind",
       "baseMs",
       "maxMs",
       "jitter"
      ],
      "description": "How long it waits before that."
     },
     "timeoutMs": {
      "type": "number",
      "description": "0: none."
     },
     "traceparent": {
      "type": "string",
      "description": "The W3C trace context of its attempts."
     },
     "checkpoint": {
      "enum": [
       "group",
       "node"
      ],
      "description": "Of a driven run: as of `RunEnqueueOptions`; absent: after every node."
     }
    },
    "description": "What its enqueue said about attempts, its trace, and checkpoints."
   },
   "graphHash": {
    "type": "string",
    "description": "SHA-256 of the graph."
   },
   "graph": {
    "$ref": "#/components/schemas/TaskGraph",
    "description": "Its graph."
   },
   "input": {
    "type": "string",
    "description": "What it was enqueued with, as the codec wrote it; absent for `undefined`."
   },
   "edits": {
    "type": "object",
    "additionalProperties": {
     "type": "string"
    },
    "description": "From version 2 on: inputs that nodes were given in place of their own, as the codec wrote them, by node, in a driven run by node and visit as `total#1`."
   },
   "nodes": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/ExportedNode"
    },
    "description": "Its nodes, joins left out."
   },
   "journal": {
    "type": "object",
    "additionalProperties": {
     "type": "string"
    },
    "description": "Of a driven run: what it has written down and another run may go on from."
   },
   "channels": {
    "type": "object",
    "additionalProperties": {
     "type": "string"
    },
    "description": "Values of its channels, by channel and key."
   }
  },
  "required": [
   "format",
   "version",
   "id",
   "name",
   "form",
   "state",
   "user",
   "said",
   "options",
   "graphHash",
   "graph",
   "nodes"
  ]
 },
 "SaidPlace": {
  "description": "What goes before the definitions of nodes.",
  "type": "object",
  "properties": {
   "queue": {
    "type": "string",
    "description": "The queue of nodes that name none."
   },
   "level": {
    "enum": [
     1,
     2,
     3,
     4,
     5,
     6
    ],
    "description": "Their priority, 1 to 6."
   },
   "cost": {
    "type": "number",
    "description": "What a turn of theirs costs."
   },
   "latest": {
    "const": true,
    "description": "They keep no version: each goes on with the newest."
   },
   "maxSteps": {
    "type": "number",
    "description": "Tasks and groups that a walk of it may come to; see `RunEnqueueOptions.maxSteps`."
   }
  }
 },
 "ExportedNode": {
  "description": "One node of an exported run.",
  "type": "object",
  "properties": {
   "node": {
    "type": "string",
    "description": "Its name in the graph."
   },
   "state": {
    "enum": [
     "canceled",
     "deferred",
     "failed",
     "finished",
     "gone",
     "pending",
     "queued",
     "scheduled",
     "skipped",
     "started"
    ],
    "description": "Where it stood."
   },
   "result": {
    "type": "string",
    "description": "Of a finished node of a dispatched run: what it gave, as the codec wrote it."
   }
  },
  "required": [
   "node",
   "state"
  ]
 },
 "Backfill": {
  "description": "What was done about the slots of a stretch.",
  "type": "object",
  "properties": {
   "id": {
    "type": "string",
    "description": "The schedule."
   },
   "created": {
    "type": "array",
    "items": {
     "type": "number"
    },
    "description": "Slots whose task was stored, in ms since the epoch."
   },
   "existing": {
    "type": "array",
    "items": {
     "type": "number"
    },
    "description": "Slots whose task was there before."
   },
   "refused": {
    "type": "array",
    "items": {
     "type": "object",
     "properties": {
      "slot": {
       "type": "number"
      },
      "error": {
       "type": "string"
      }
     },
     "required": [
      "slot",
      "error"
     ]
    },
    "description": "Slots whose task was not stored, and why."
   }
  },
  "required": [
   "id",
   "created",
   "existing",
   "refused"
  ]
 },
 "XComPage": {
  "description": "Some values.",
  "type": "object",
  "properties": {
   "items": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/XComFact"
    },
    "description": "By key."
   },
   "cursor": {
    "type": "string",
    "description": "Asks for the next page; absent on the last."
   }
  },
  "required": [
   "items"
  ]
 },
 "XComFact": {
  "description": "What is known of a value, without the value.",
  "type": "object",
  "properties": {
   "writer": {
    "type": "string",
    "description": "The task that pushed it; absent when that was no task."
   },
   "pushedAt": {
    "type": "number",
    "description": "When that was, in ms since the epoch."
   },
   "expiresAt": {
    "type": "number",
    "description": "When it goes, in ms since the epoch; absent while its writer or a dependent of that lives."
   },
   "user": {
    "type": "string",
    "description": "Whose value it is."
   },
   "namespace": {
    "type": "string",
    "description": "Parts the values of one user."
   },
   "key": {
    "type": "string",
    "description": "Names the value."
   }
  },
  "required": [
   "pushedAt",
   "user",
   "namespace",
   "key"
  ]
 },
 "XComNamespacePage": {
  "description": "Some namespaces.",
  "type": "object",
  "properties": {
   "items": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/XComNamespace"
    },
    "description": "By name."
   },
   "cursor": {
    "type": "string",
    "description": "Asks for the next page; absent on the last."
   }
  },
  "required": [
   "items"
  ]
 },
 "XComNamespace": {
  "description": "A namespace in which a user has values.",
  "type": "object",
  "properties": {
   "namespace": {
    "type": "string",
    "description": "Its name."
   }
  },
  "required": [
   "namespace"
  ]
 },
 "NamedValue": {
  "description": "A value with its key.",
  "type": "object",
  "properties": {
   "key": {
    "type": "string",
    "description": "Its key."
   },
   "value": {
    "description": "What was pushed."
   }
  },
  "required": [
   "key",
   "value"
  ]
 },
 "TaskGraph": {
  "type": "object"
 }
};
