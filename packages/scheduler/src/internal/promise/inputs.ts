/** The input that calls of the promise API expect. The rules of the service check the values. */

/** The types of the fields of commands, by call. */
export const inputs = {
  enqueue: {
    lane: "string",
    group: "string",
    kind: "string",
    cap: "number",
    job: "string?",
    pool: "string?",
    weight: "number?",
    priority: "number?",
    waitingMax: "number?",
    attemptsMax: "number?",
    timeLimit: "duration?",
    delay: "duration?",
    unique: "object?"
  },
  checkRoom: { lane: "string", group: "string", cap: "number", waitingMax: "number?" },
  cancel: { job: "string" },
  requeue: { job: "string" },
  forget: { group: "string", abort: "boolean?", limit: "number?" },
  setCap: { lane: "string", group: "string", cap: "number", weight: "number?" },
  swapSlots: { limit: "number" },
  find: ["string"],
  waiting: { age: "duration", limit: "number" },
  lanes: { limit: "number", group: "string?", after: "string?" },
  workers: { limit: "number", after: "string?" },
  drain: { worker: "string" },
  resume: { worker: "string" },
  work: { handlers: "object" },
  schedule: { schedules: "array" }
} as const
