/** The `kinora` command. */
import { Effect } from "effect"
import { CliConfig, Command, GlobalFlag } from "effect/cli"
import { accountCommand } from "./commands/account.ts"
import { auditCommand } from "./commands/audit.ts"
import { creditsCommand } from "./commands/credits.ts"
import { generateCommand } from "./commands/generate.ts"
import { configCommand, doctorCommand, migrateCommand, serveCommand, workerCommand } from "./commands/host.ts"
import { jobCommand } from "./commands/job.ts"
import { keyCommand } from "./commands/key.ts"
import { ledgerCommand } from "./commands/ledger.ts"
import { modelCommand } from "./commands/model.ts"
import { operatorsCommand } from "./commands/operator.ts"
import { planCommand } from "./commands/plan.ts"
import { queueCommand } from "./commands/queue.ts"
import { walletCommand } from "./commands/wallet.ts"
import { webhookCommand } from "./commands/webhook.ts"
import { Json, Profile, Url, Yes } from "./Settings.ts"

/** Version that `--version` prints. */
const version = "0.1.0"

/** The command with all of its subcommands. */
const kinora = Command.make("kinora").pipe(
  Command.withDescription(
    "Generates pictures and videos with a Kinora service, runs one, and operates one. Commands for operators need " +
      "KINORA_ADMIN_TOKEN, those for users KINORA_API_KEY; both can be in a profile."
  ),
  Command.withSubcommands([
    generateCommand,
    serveCommand,
    workerCommand,
    migrateCommand,
    configCommand,
    doctorCommand,
    accountCommand,
    keyCommand,
    planCommand,
    creditsCommand,
    walletCommand,
    jobCommand,
    queueCommand,
    modelCommand,
    webhookCommand,
    ledgerCommand,
    operatorsCommand,
    auditCommand
  ]),
  Command.withGlobalFlags([Json, Url, Profile, Yes]),
  Command.withExamples([
    { command: "kinora generate \"a lake at dawn\" -o lake.png", description: "Generate a picture" },
    { command: "kinora serve", description: "Start a service on this machine" },
    { command: "kinora account create ada@example.com", description: "Create an account" },
    { command: "kinora credits grant ada@example.com 500", description: "Grant credits" },
    { command: "kinora ledger verify", description: "Verify the books" }
  ])
)

/** Runs the command line. Fails with a `CliError`, which it has printed. */
export const run = (args: ReadonlyArray<string>) =>
  Command.runWith(kinora, { version })(args).pipe(
    Effect.provideService(
      CliConfig.CliConfig,
      CliConfig.make({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions] })
    )
  )
