/** The arguments of the command `kinora-migrate`. */

/** The parsed arguments of a call. */
export interface Arguments {
  readonly action: "sql" | "up" | "down" | "status"
  readonly packages: ReadonlyArray<string>
  readonly schema: string | undefined
  readonly url: string | undefined
  readonly after: number
  readonly isJson: boolean
}

/** The help of the command. */
export const help = `kinora-migrate writes, runs and checks the migrations of Kinora packages.

Usage
  kinora-migrate sql PACKAGE… [--schema NAME] [--after NUMBER]   print the SQL of the migrations
  kinora-migrate up PACKAGE… [--schema NAME] [--url URL]         run the pending migrations
  kinora-migrate status PACKAGE… [--schema NAME] [--url URL]     compare the database with the packages
  kinora-migrate down PACKAGE… [--schema NAME]                   print the SQL that removes the tables

PACKAGE is ledger, rate-limit, idempotency, scheduler, webhooks, api-keys, or the name of another package that exports
\`migrations\` from \`./migrations\`. It has to be installed in the project of the current directory.

Options
  --schema NAME    the schema of the tables; default: that of the connection
  --after NUMBER   sql: print only the migrations after this one
  --url URL        the database; default: the environment variable DATABASE_URL
  --json           print JSON
  --help           print this help

Exit codes
  0  done; status: every package can be used
  1  the database or a package failed
  2  the arguments are invalid
  3  status: migrations are pending, or the database is newer than a package can use

Run the printed SQL in one transaction, as Flyway does:
  kinora-migrate sql ledger --schema billing > V7__billing.sql
  psql --single-transaction -v ON_ERROR_STOP=1 -f V7__billing.sql
`

/** Returns the arguments, a request for help, or a sentence on what is wrong. */
export const parse = (args: ReadonlyArray<string>): Arguments | "help" | { readonly problem: string } => {
  if (args.length === 0 || args.includes("--help") || args.includes("-h")) return "help"
  const positional: Array<string> = []
  const options = new Map<string, string>()
  let isJson = false
  for (let index = 0; index < args.length; index++) {
    const [name, inline] = splitOption(args[index]!)
    if (name === "--json") isJson = true
    else if (valued.has(name)) {
      const value = inline ?? args[++index]
      if (value === undefined) return { problem: `${name} needs a value` }
      options.set(name, value)
    } else if (name.startsWith("-")) return { problem: `Unknown option ${name}` }
    else positional.push(name)
  }
  const [action, ...packages] = positional
  if (!isAction(action)) return { problem: `Expected sql, up, status or down, got ${action ?? "nothing"}` }
  if (packages.length === 0) {
    return { problem: `Expected the name of a package, such as: kinora-migrate ${action} ledger` }
  }
  const after = options.get("--after") ?? "0"
  if (!/^\d{1,9}$/.test(after)) return { problem: `Expected the number of a migration for --after, got ${after}` }
  if (options.has("--after") && action !== "sql") return { problem: `--after is an option of sql, not of ${action}` }
  return {
    action,
    packages,
    schema: options.get("--schema"),
    url: options.get("--url"),
    after: Number(after),
    isJson
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const valued = new Set(["--schema", "--after", "--url"])

const splitOption = (argument: string): readonly [name: string, value: string | undefined] => {
  const end = argument.indexOf("=")
  return argument.startsWith("--") && end > 0
    ? [argument.slice(0, end), argument.slice(end + 1)]
    : [argument, undefined]
}

const isAction = (text: string | undefined): text is Arguments["action"] =>
  text === "sql" || text === "up" || text === "down" || text === "status"
