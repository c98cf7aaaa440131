/** The common part of the commands for operators. */
import { Effect } from "effect"
import { Command, Prompt } from "effect/cli"
import * as Connection from "../Connection.ts"
import { connect, explained, type Operator } from "../Operator.ts"
import { Yes } from "../Settings.ts"

/** Makes a command that calls the operator API. */
export const operatorCommand = <const Name extends string, const Config extends Command.Command.Config, E, R>(
  name: Name,
  description: string,
  input: Config,
  run: (operator: Operator, input: Command.Command.Config.Infer<Config>) => Effect.Effect<void, E, R>
) =>
  Command.make(name, input, (input) => explained(Effect.flatMap(connect, (operator) => run(operator, input)))).pipe(
    Command.withDescription(description)
  )

/** Asks for a confirmation of a change that cannot be undone, unless `--yes` is set. Fails without one. */
export const confirm = Effect.fnUntraced(function*(question: string) {
  if (yield* Yes) return
  if (!process.stdin.isTTY) {
    return yield* Connection.fail(`${question} Nobody can answer here; add --yes to do it without asking.`)
  }
  if (!(yield* Prompt.run(Prompt.Confirm({ message: question, initial: false })))) {
    return yield* Connection.fail("Nothing was changed.")
  }
})
