/** Mails that are sent in the background, one at a time per recipient. */
import type { StorageError } from "@kinora/persistence"
import { JobHandler, JobKind, Scheduler, type SchedulerError, Worker } from "@kinora/scheduler"
import { Context, Effect, Layer, Schema } from "effect"

/** A mail. A job whose payload does not decode fails and is not sent. */
export const Mail = Schema.Struct({ to: Schema.String, subject: Schema.String })

/** The mail server accepts no mail now. */
export class ServerBusy extends Schema.TaggedError<ServerBusy>("example/ServerBusy")("ServerBusy", {}) {}

/** The recipient does not exist. */
export class UnknownRecipient
  extends Schema.TaggedError<UnknownRecipient>("example/UnknownRecipient")("UnknownRecipient", { to: Schema.String })
{}

/** The mail server. */
export class MailServer extends Context.Service<MailServer, {
  readonly send: (mail: typeof Mail.Type) => Effect.Effect<void, ServerBusy | UnknownRecipient>
  /** Reports a mail that was given up. */
  readonly giveUp: (job: string) => Effect.Effect<void>
}>()("example/MailServer") {}

/** Mails of the program. */
export class Mails extends Context.Service<Mails, {
  /** Queues a mail in the transaction of the caller, if there is one. */
  readonly queue: (
    id: string,
    mail: typeof Mail.Type
  ) => Effect.Effect<void, SchedulerError.SchedulerError | StorageError.StorageError>
}>()("example/Mails") {}

const kind = JobKind.make({ name: "mail", payload: Mail })

export const layer = Layer.effect(
  Mails,
  Effect.map(Scheduler.Scheduler, ({ enqueue }) =>
    Mails.of({
      queue: (job, mail) => Effect.asVoid(enqueue({ job, lane: mail.to, group: "mails", cap: 1, kind, payload: mail }))
    }))
)

/** Sends queued mails. A mail is sent up to five times while the server is busy, with growing pauses. */
export const layerWorker = Layer.unwrap(Effect.map(MailServer, ({ giveUp, send }) =>
  Worker.layer({
    name: "mails",
    handlers: [JobHandler.make({
      kind,
      run: ({ payload }) => send(payload),
      retry: { attempts: 5, while: ({ _tag }) => _tag === "ServerBusy" },
      failed: ({ job }) => giveUp(job)
    })]
  })))
