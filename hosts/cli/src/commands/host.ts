/** `kinora serve`, `kinora worker`, `kinora migrate`, `kinora config` and `kinora doctor`. They need no service. */
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { workerCommands } from "./queue.ts"

/** The hosts are loaded on demand: they are most of the time that a command needs to start. */
const hosts = Effect.promise(() => import("../Hosts.ts"))

const workers = Flag.Int("workers").pipe(
  Flag.withDescription("Concurrent jobs in this process (KINORA_WORKERS)"),
  Flag.optional
)

/** Runs a server. */
export const serveCommand = Command.make(
  "serve",
  { workers },
  ({ workers }) => Effect.flatMap(hosts, ({ serve }) => serve(workers))
).pipe(
  Command.withDescription(
    "Serve the API, run jobs and send webhooks. Settings: KINORA_* variables and kinora.config.yaml"
  )
)

/** Runs a worker. */
export const workerCommand = Command.make(
  "worker",
  { workers },
  ({ workers }) => Effect.flatMap(hosts, ({ work }) => work(workers))
).pipe(
  Command.withDescription(
    "Run jobs and send webhooks, beside a server on the same Postgres. Its commands list the workers of a service"
  ),
  Command.withSubcommands(workerCommands)
)

/** Migrates the database. */
export const migrateCommand = Command.make("migrate", {}, () => Effect.flatMap(hosts, ({ migrate }) => migrate)).pipe(
  Command.withDescription("Bring the schema of the database up to date, as each start of a host does")
)

const check = Command.make("check", {}, () => Effect.flatMap(hosts, ({ check }) => check)).pipe(
  Command.withDescription(
    "Validate the settings, models, drivers, moderation and identity providers without starting a host"
  )
)

const show = Command.make("show", {}, () => Effect.flatMap(hosts, ({ show }) => show)).pipe(
  Command.withDescription("Print every setting, its value and where it comes from, without secrets")
)

const schema = Command.make("schema", {}, () => Effect.flatMap(hosts, ({ schema }) => schema)).pipe(
  Command.withDescription("Print the JSON Schema of kinora.config.yaml, for editors")
)

/** Commands about the settings of a host. */
export const configCommand = Command.make("config").pipe(
  Command.withDescription("Check, show and describe the settings of a host"),
  Command.withSubcommands([check, show, schema])
)

/** Checks a service and the host that is configured here. */
export const doctorCommand = Command.make(
  "doctor",
  {
    quick: Flag.Boolean("quick").pipe(
      Flag.withDescription("Skip the check of long polls, which takes a minute"),
      Flag.withDefault(false)
    ),
    webhookUrl: Flag.String("webhook-url").pipe(
      Flag.withDescription("A receiver of webhooks; gets an empty, unsigned request from this machine"),
      Flag.optional
    )
  },
  (options) => Effect.flatMap(Effect.promise(() => import("../doctor/Doctor.ts")), ({ run }) => run(options))
).pipe(
  Command.withDescription(
    "Check the settings, database, files and keys of a host, and a running service. Exits with 1 if a check fails"
  )
)
