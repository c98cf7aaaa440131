import { assert, it } from "@effect/vitest"
import { PaymentProvider } from "@kinora/payments"
import { DateTime, Effect, Layer } from "effect"
import * as Terminal from "./Terminal.ts"

/** A payment provider that opens every checkout. */
const paymentProvider = Layer.succeed(
  PaymentProvider.PaymentProvider,
  PaymentProvider.PaymentProvider.of({
    name: "stripe",
    open: ({ payment }) =>
      Effect.map(DateTime.now, (now) => ({
        reference: `cs_${payment}`,
        url: "https://pay.test",
        expiresAt: DateTime.add(now, { hours: 24 })
      })),
    read: () => Effect.succeed({ _tag: "Open" }),
    verify: () => Effect.fail(new PaymentProvider.SignatureRejected())
  })
)

it.effect("opens checkouts and lists the payments", () =>
  Effect.gen(function*() {
    const { json, run, text } = yield* Terminal.make({ paymentProvider })
    const { id } = yield* json("account", "create", "ada@example.com")
    assert.include(yield* text("wallet", "checkouts", id), "The account has no payments.")
    const urls = ["--success-url", "https://shop.test/a", "--cancel-url", "https://shop.test/b"]
    const checkout = yield* json("wallet", "checkout", "ada@example.com", "20", ...urls)
    assert.deepInclude(checkout, { amount_usd_cents: 2_000, url: "https://pay.test", status: "open" })
    const shown = yield* text("wallet", "checkout", id, "29.50", ...urls)
    assert.match(shown, /^url +https:\/\/pay\.test\namount +\$29\.50\nexpires +2030-01-02 00:00:00Z\npayment +pay_/)
    const first = yield* text("wallet", "checkouts", id, "--limit", "1")
    const cursor = /More: --cursor (pay_\w+)$/.exec(first)?.[1] ?? ""
    const [, row = ""] = (yield* text("wallet", "checkouts", id, "--cursor", cursor)).split("\n")
    assert.deepStrictEqual(row.split(/ {2,}/).slice(1), [checkout.id, "$20.00", "open", `cs_${checkout.id}`])
    const wrong = yield* run("wallet", "checkout", id, "0.99", ...urls)
    assert.include(wrong.errors, "amount_usd_cents")
  }).pipe(Effect.scoped))

it.effect("manages an account from its creation to the verification of its books", () =>
  Effect.gen(function*() {
    const { host, json, run, text } = yield* Terminal.make()
    const { id } = yield* json("account", "create", "ada@example.com")
    assert.include(yield* text("account", "list", "--search", "ADA"), `${id}  ada@example.com  active`)
    assert.include(
      yield* text("account", "update", "ada@example.com", "--email", "grace@example.com"),
      "grace@example.com"
    )

    // An account is named by its address or by its id.
    const key = yield* json("key", "create", "Grace@example.com", "laptop")
    assert.include(yield* text("key", "list", id), key.id)
    const reader = yield* json("key", "create", id, "reader", "--scope", "read", "--ip", "192.0.2.1", "--days", "30")
    const renamed = yield* text("key", "rename", id, reader.id, "read only")
    assert.strictEqual(renamed, `${reader.id} is named read only.`)
    assert.include(yield* text("key", "list", id), "read only")
    const rolled = yield* json("key", "roll", id, reader.id, "--overlap", "0.5")
    assert.deepInclude(rolled, { name: "read only", scopes: ["read"], ip_ranges: ["192.0.2.1/32"] })
    const keys = (yield* text("key", "list", id)).split("\n")
    assert.match(keys[1]!, /2030-01-31 00:00:00Z {2}- {8}read, 192\.0\.2\.1\/32 {2}-$/)
    assert.match(keys[2]!, /2030-01-01 00:30:00Z {2}- {8}read, 192\.0\.2\.1\/32 {2}-$/)
    assert.include(yield* text("plan", "credits", id, "pro", "--days", "10", "--renew"), "which renews 2030-01-11")
    const lot = yield* json("credits", "grant", id, "500", "--reference", "gift")
    assert.deepInclude(lot, { credits: 500, kind: "addon", reference: "gift" })
    assert.deepStrictEqual(yield* json("credits", "grant", id, "500", "--reference", "gift"), lot)
    assert.deepInclude(yield* json("wallet", "deposit", id, "29.50", "--reference", "1"), {
      usd_cents: 2950,
      balance_usd_cents: 2950
    })
    assert.deepInclude(yield* json("wallet", "deposit", id, "0.07", "--reference", "2"), {
      usd_cents: 7,
      balance_usd_cents: 2957
    })

    const wallet = (yield* text("wallet", "list", id)).split("\n")
    assert.deepStrictEqual(
      wallet.slice(1).map((line) => line.split(/ {2,}/).slice(2, 4)),
      [
        ["$29.50", "$29.50"],
        ["$0.07", "$29.57"]
      ].toReversed()
    )
    assert.include(yield* text("wallet", "list", id, "--limit", "1"), "More: --cursor \"deposit:")
    const started = yield* text("plan", "subscribe", "studio", id, "starter")
    assert.match(started, /^A period has started\.\npaid +\$9\.00\ncredits +0\nperiod ends +2030-01-31/)
    assert.include(yield* text("plan", "stop", id, "studio"), "the studio plan starter, which ends 2030-01-31")
    const resumed = yield* json("plan", "subscribe", "studio", id, "starter")
    assert.deepInclude(resumed, { outcome: "continued", usd_cents: 0 })
    const lowered = yield* text("plan", "subscribe", "credits", id, "starter")
    assert.include(lowered, "The lower tier applies from the next period on.")
    assert.match(yield* text("wallet", "debit", id, "20", "--reference", "fee"), /^taken +\$20\.00\nbalance +\$0\.57/)
    const created = yield* Effect.promise(() =>
      host.fetch("/v1/generations", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ plan: "credits", model: "kinora-still", params: { prompt: "a lake" } }),
        apiKey: key.key
      }).then((response) => response.json())
    )
    const job = String(Object(created).id)
    assert.include(yield* text("job", "list", id), `${job}  kinora-still  credits`)
    assert.include(yield* text("job", "show", job), "credits: 8 credits")
    assert.match(yield* text("job", "get", job), /2030-01-01 00:00:00Z {2}charged +8 +-(\n|$)/)
    assert.include(yield* text("job", "search", "--account", "grace@example.com"), `${job}  ${id}  kinora-still`)
    assert.include(yield* text("job", "search", "--model", "kinora-still", "--after", "2030-01-01"), job)
    assert.strictEqual(yield* text("job", "search", "--before", "2030-01-01T00:00:00Z"), "No job matches.")
    assert.strictEqual(yield* text("job", "list", id, "--status", "failed"), "No job matches.")
    assert.include(yield* text("ledger", "bookings", job), "charge")
    assert.include(yield* text("credits", "list", id), "492")
    assert.include(yield* text("ledger", "statement", id), Object(created).id)
    const csv = (yield* text("ledger", "statement", id, "--csv")).split("\n")
    assert.strictEqual(csv[0], "transaction,time,kind,reference,reverses,from,to,amount")
    assert.match(csv[1]!, /^txn_\w+,2030-01-01T00:00:00.000Z,charge,gen_\w+,,lot_\w+,consumed,8$/)
    assert.match(csv[2]!, /,grant,gift,,source:addon,lot_\w+,500$/)
    const revoked = yield* text("credits", "revoke", id, lot["id"], "--yes")
    assert.strictEqual(revoked, `492 credits of ${lot["id"]} were revoked.`)
    assert.notInclude(yield* text("credits", "list", id), lot["id"])
    assert.include(yield* text("ledger", "verify"), "The books are consistent.")
    const trialBalance = yield* text("ledger", "trial-balance")
    assert.match(trialBalance, /consumed +credits +8 +0 +8/)
    assert.include(trialBalance, "The books balance.")
    assert.deepInclude(yield* json("ledger", "trial-balance"), { balanced: true })
    assert.deepInclude(yield* json("ledger", "verify", "--account", "grace@example.com"), {
      accounts: 1,
      discrepancies: []
    })

    assert.include(yield* text("key", "revoke", id, key.id, "--yes"), "is revoked")
    assert.include(yield* text("plan", "end", id, "credits", "--yes"), "has no credits plan")
    assert.include(yield* text("account", "suspend", id, "-y"), "suspended")
    assert.include(yield* text("account", "resume", id), "active")
    assert.match(yield* text("account", "delete", id, "--yes"), /status +deleted[^]*deleted +2030-01-01/)
    assert.include((yield* run("key", "create", id, "late")).errors, "account_deleted")
    assert.include(yield* text("account", "restore", id), "active")
    assert.strictEqual((yield* run("account", "get", "nobody@example.com")).code, 1)
  }).pipe(Effect.scoped))

it.effect("sets the budget of a key, and shows what is used of it", () =>
  Effect.gen(function*() {
    const { host, json, run, text } = yield* Terminal.make()
    const { id } = host.account
    const created = yield* json("key", "create", id, "limited", "--credits-per-day", "20", "--jobs-per-month", "7")
    assert.deepInclude(created, {
      budget: { credits_per_day: 20, credits_per_month: null, jobs_per_day: null, jobs_per_month: 7 }
    })
    yield* Effect.promise(() =>
      host.fetch("/v1/generations", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ plan: "credits", model: "kinora-still", params: { prompt: "a lake" } }),
        apiKey: created.key
      })
    )
    assert.match(yield* text("key", "list", id), /8 of 20 credits a day, 1 of 7 jobs a month/)
    const changed = yield* text("key", "budget", id, created.id, "--credits-per-day", "none", "--jobs-per-day", "2")
    assert.strictEqual(changed, `${created.id}: 1 of 2 jobs a day, 1 of 7 jobs a month`)
    const unlimited = ["--jobs-per-day", "none", "--jobs-per-month", "none"]
    assert.strictEqual(yield* text("key", "budget", id, created.id, ...unlimited), `${created.id}: no limits`)
    const nothing = yield* run("key", "budget", id, created.id)
    assert.strictEqual(nothing.code, 2)
    assert.include(nothing.errors, "Add --credits-per-day, --credits-per-month, --jobs-per-day or --jobs-per-month.")
    for (const limit of ["-1", "0.5", "many", "1000000000001"]) {
      assert.strictEqual((yield* run("key", "budget", id, created.id, `--jobs-per-day=${limit}`)).code, 2)
    }
  }).pipe(Effect.scoped))

it.effect("manages webhook endpoints, and shows a secret once", () =>
  Effect.gen(function*() {
    const { host: { account: { id } }, json, text } = yield* Terminal.make()
    const endpoint = yield* json("webhook", "create", id, "https://hooks.example.com/kinora")
    assert.match(endpoint.secret, /^whsec_/)
    assert.notInclude(yield* text("webhook", "list", id), endpoint.secret)
    assert.include(yield* text("webhook", "list", id), "https://hooks.example.com/kinora")
    assert.notStrictEqual((yield* json("webhook", "rotate", id, endpoint.id)).secret, endpoint.secret)
    const delivery = yield* json("webhook", "test", id, endpoint.id)
    assert.include(yield* text("webhook", "deliveries", id, endpoint.id), delivery.id)
    assert.isString(yield* text("webhook", "sends", id, endpoint.id))
    const payload = JSON.parse(yield* text("webhook", "payload", id, endpoint.id, delivery.id))
    assert.deepInclude(payload, { id: delivery.id, type: "webhook.test", data: {} })
    const resent = yield* text("webhook", "resend-failed", id, endpoint.id, "--hours", "2")
    assert.strictEqual(resent, "Deliveries that are sent again: 0.")
    assert.include(yield* text("webhook", "disable", id, endpoint.id), "disabled")
    assert.include(yield* text("webhook", "enable", id, endpoint.id), "enabled")
    assert.include(yield* text("webhook", "delete", id, endpoint.id, "--yes"), "is deleted")
    assert.deepStrictEqual((yield* json("webhook", "list", id)).data, [])
  }).pipe(Effect.scoped))

it.effect("manages operators, shows a token once, and lists the changes that each made", () =>
  Effect.gen(function*() {
    const { env, host, json, run, text } = yield* Terminal.make()
    const { account: { id } } = host
    const ada = yield* json("operator", "create", "Ada", "--role", "support", "--days", "30")
    assert.match(ada.token, /^kop_/)
    const runAs = (token: string, ...args: ReadonlyArray<string>) =>
      Terminal.runWith(
        args,
        { ...env, KINORA_ADMIN_TOKEN: token },
        (input, init) => host.fetch(input, { ...init, apiKey: null })
      )
    assert.strictEqual((yield* runAs(ada.token, "account", "suspend", id, "--yes")).code, 0)
    const refused = yield* runAs(ada.token, "key", "create", id, "laptop")
    assert.strictEqual(refused.code, 1)
    assert.include(refused.errors, "role_missing")

    const listed = yield* text("operator", "list")
    assert.match(listed, /Ada +support {2}kop_\w{8} {2}2030-01-01 00:00:00Z {2}2030-01-01 00:00:00Z {2}2030-01-31 /)
    assert.notInclude(listed, ada.token)
    const rotated = yield* json("operator", "rotate", ada.id, "--overlap", "0")
    assert.strictEqual((yield* runAs(ada.token, "audit", "list")).code, 1)
    assert.strictEqual((yield* runAs(rotated.token, "audit", "list")).code, 0)
    assert.include((yield* run("operator", "revoke", ada.id)).errors, "add --yes")
    assert.include(yield* text("operator", "revoke", ada.id, "--yes"), "is revoked")
    assert.strictEqual((yield* runAs(rotated.token, "audit", "list")).code, 1)

    const suspended = yield* text("audit", "list", "--actor", ada.id)
    assert.include(suspended, `${ada.id}  support  accounts.suspendAccount  ${id}`)
    assert.include(suspended, `{"status":"active"}  {"status":"suspended"}`)
    assert.strictEqual(suspended.split("\n").length, 2)
    assert.strictEqual((yield* json("audit", "list", "--subject", ada.id)).data.length, 3)
    assert.strictEqual((yield* json("audit", "list", "--action", "operators.rotateOperator")).data.length, 1)
    assert.strictEqual(yield* text("audit", "list", "--since", "2030-01-02"), "No change matches.")
    assert.strictEqual(yield* text("audit", "list", "--until", "2030-01-01T00:00:00Z"), "No change matches.")
    const first = yield* json("audit", "list", "--limit", "3")
    assert.strictEqual((yield* json("audit", "list", "--cursor", first.next_cursor)).data.length, 1)
    assert.include(yield* text("audit", "list", "--limit", "1"), "More: --cursor aud_")
  }).pipe(Effect.scoped))

it.effect("creates sign-in links of accounts and operators", () =>
  Effect.gen(function*() {
    const { host: { account }, json, run, text } = yield* Terminal.make()
    const link = /^link +http:\/\/.*\/console\/#code=[0-9a-f]{64}\nrole +(\w+)\nexpires +2030-01-01 00:10:00Z\n/
    const roleOf = (shown: string) => link.exec(shown)?.[1]
    assert.strictEqual(roleOf(yield* text("account", "sign-in-link", account.email)), "member")
    assert.strictEqual(roleOf(yield* text("account", "sign-in-link", account.id, "--role", "viewer")), "viewer")
    assert.strictEqual(roleOf(yield* text("operator", "sign-in-link", "owner")), "owner")
    const ada = yield* json("operator", "create", "Ada", "--role", "support")
    assert.deepInclude(yield* json("operator", "sign-in-link", ada.id), { role: "support" })
    assert.include((yield* run("operator", "sign-in-link", "opr_x")).errors, "not_found")
  }).pipe(Effect.scoped))

it.effect("lists and ends the sessions of operators", () =>
  Effect.gen(function*() {
    const { host, json, run, text } = yield* Terminal.make()
    const signIn = Effect.fnUntraced(function*(operator: string) {
      const { url } = yield* json("operator", "sign-in-link", operator)
      const { origin } = new URL(String(url))
      const response = yield* Effect.promise(() =>
        host.fetch("/console/v1/session", {
          method: "POST",
          headers: { "content-type": "application/json", origin, "user-agent": "Lynx" },
          body: JSON.stringify({ code: String(url).split("#code=")[1] }),
          apiKey: null
        })
      )
      assert.strictEqual(response.status, 204)
    })
    const ada = yield* json("operator", "create", "Ada", "--role", "support")
    assert.strictEqual(yield* text("operator", "sessions", ada.id), "The operator has no sessions.")
    yield* signIn(ada.id)
    yield* signIn(ada.id)
    yield* signIn("owner")
    assert.match(yield* text("operator", "sessions", "owner"), /^SESSION .*\nses_\w+ .* 2030-01-01 00:00:00Z .* Lynx$/)
    const first = Object((yield* json("operator", "sessions", ada.id)).data[0])
    assert.include((yield* run("operator", "session", "end", ada.id, first.id)).errors, "add --yes")
    assert.strictEqual(yield* text("operator", "session", "end", ada.id, first.id, "--yes"), `${first.id} has ended.`)
    assert.lengthOf((yield* json("operator", "sessions", ada.id)).data, 1)
    assert.include((yield* run("operator", "session", "end", ada.id, first.id, "--yes")).errors, "not_found")
    assert.include((yield* run("operator", "session", "end", ada.id)).errors, "add --yes")
    assert.include(yield* text("operator", "session", "end", ada.id, "--yes"), "All sessions of")
    assert.lengthOf((yield* json("operator", "sessions", ada.id)).data, 0)
  }).pipe(Effect.scoped))

it.effect("shows workers and queues", () =>
  Effect.gen(function*() {
    const { host: { account, fetch }, json, run, text } = yield* Terminal.make()
    assert.match(yield* text("worker", "list"), /^WORKER .*\nwrk_\w{26} .* running +0\/\d+ .* kinora-still/)
    assert.strictEqual((yield* json("worker", "list", "--limit", "1")).data.length, 1)
    assert.include((yield* run("worker", "drain", "wrk_a", "--yes")).errors, "not_found")
    assert.include((yield* run("worker", "resume", "wrk_a")).errors, "not_found")
    const { id: worker } = Object((yield* json("worker", "list")).data[0])
    assert.include((yield* run("worker", "drain", worker)).errors, "add --yes")
    assert.strictEqual(yield* text("worker", "drain", worker, "--yes"), `${worker} drains.`)
    assert.match(yield* text("worker", "list"), / drained +0\/\d+ /)
    assert.strictEqual(yield* text("worker", "resume", worker), `${worker} claims jobs again.`)
    assert.match(yield* text("worker", "list"), / running +0\/\d+ /)
    assert.match(yield* text("queue", "show"), /kinora-still +image +0 +0 +0 +- +1$/)
    assert.match(yield* text("queue", "show", "--limit", "1"), /\nMore: --cursor [\w-]+$/)
    assert.notInclude(yield* text("queue", "show", "--cursor", "kinora-draft"), "kinora-draft")
    assert.strictEqual(yield* text("queue", "lanes"), "No job waits or runs.")
    assert.strictEqual(yield* text("queue", "lanes", "--account", account.email), "No job waits or runs.")
    const created = yield* Effect.promise(() =>
      fetch("/v1/generations", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ plan: "credits", model: "kinora-still", params: { prompt: "a lake" } })
      }).then((response) => response.json())
    )
    assert.match(yield* text("queue", "lanes"), new RegExp(`^ACCOUNT .*\n${account.id} +credits +\\d+ +0 +\\d +\\d$`))
    const job = String(Object(created).id)
    assert.include((yield* run("job", "fail", job)).errors, "add --yes")
    assert.include(yield* text("job", "requeue", job, "--yes"), `${job}\n`)
    assert.match(yield* text("job", "fail", job, "--yes"), /credits: 8 credits, refunded\nstatus +failed\n/)
    assert.include((yield* run("job", "requeue", job, "--yes")).errors, "job_ended")
  }).pipe(Effect.scoped))

it.effect("shows the steps of a job, with its webhook events and their deliveries", () =>
  Effect.gen(function*() {
    const { host: { account, fetch }, json, text } = yield* Terminal.make()
    const { id: endpoint } = yield* json("webhook", "create", account.email, "https://hooks.example.com/kinora")
    const created = yield* Effect.promise(() =>
      fetch("/v1/generations", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ plan: "credits", model: "kinora-still", params: { prompt: "a lake" } })
      }).then((response) => response.json())
    )
    const job = String(Object(created).id)
    assert.notInclude(yield* text("job", "show", job), "DELIVERY")
    yield* text("job", "fail", job, "--yes")
    const shown = yield* text("job", "show", job)
    const rows = ["created +- +-", "charged +8 +-", "failed_by_operator +- +-", "refunded +8 +-"]
    const steps = [...rows, "event_published +- +generation\\.failed"].map((row) => `2030-01-01 00:00:00Z +${row}`)
    assert.match(shown, new RegExp(`\nTIME .*\n${steps.join("\n")}\n\nDELIVERY `))
    assert.match(shown, new RegExp(`\ndlv_\\w+ +${endpoint} +generation\\.failed +pending +0 +2030-01-01 00:00:00Z$`))
    assert.deepInclude(yield* json("job", "show", job), { run: null, status: "failed" })
  }).pipe(Effect.scoped))

it.effect("pauses and resumes models", () =>
  Effect.gen(function*() {
    const { run, text } = yield* Terminal.make()
    assert.match(yield* text("model", "list"), /\nkinora-still +image +available +- /)
    assert.match(yield* text("model", "list", "--limit", "1"), /\nMore: --cursor [\w-]+$/)
    assert.notInclude(yield* text("model", "list", "--cursor", "kinora-still"), "\nkinora-still ")
    assert.include((yield* run("model", "pause", "kinora-still")).errors, "add --yes")
    assert.match(yield* text("model", "pause", "kinora-still", "--yes"), /paused +2030-01-01 00:00:00Z /)
    assert.match(yield* text("model", "resume", "kinora-still"), /\nkinora-still +image +\w+ +- /)
  }).pipe(Effect.scoped))

it.effect("lists accounts page by page", () =>
  Effect.gen(function*() {
    const { json, text } = yield* Terminal.make()
    for (const name of ["a", "b", "c"]) yield* text("account", "create", `${name}@pages.example`)
    const first = yield* json("account", "list", "--search", "pages.example", "--limit", "2")
    assert.strictEqual(first.data.length, 2)
    const second = yield* json("account", "list", "--search", "pages.example", "--cursor", first.next_cursor)
    assert.strictEqual(second.data.length, 1)
    assert.include(yield* text("account", "list", "--limit", "1"), "More: --cursor acct_")
    assert.strictEqual(yield* text("account", "list", "--status", "suspended"), "No account matches.")
  }).pipe(Effect.scoped))

it.effect("asks before what cannot be undone, and changes nothing if nobody can answer", () =>
  Effect.gen(function*() {
    const { host: { account: { id } }, json, run } = yield* Terminal.make()
    for (
      const args of [["account", "suspend", id], ["plan", "end", id, "studio"], ["key", "revoke", id, "key_x"], [
        "job",
        "cancel",
        "gen_x"
      ]]
    ) {
      const { code, errors } = yield* run(...args)
      assert.strictEqual(code, 1)
      assert.include(errors, "add --yes")
    }
    assert.strictEqual((yield* json("account", "get", id)).status, "active")
  }).pipe(Effect.scoped))

it.effect("exits with 1 if the service rejects the command, with 2 for a wrong command line, and says why", () =>
  Effect.gen(function*() {
    const { env, host, run } = yield* Terminal.make()
    const fetch: typeof globalThis.fetch = (input, init) => host.fetch(input, { ...init, apiKey: null })
    const taken = ["account", "create", "taken@example.com"]
    const notFound = async () => Response.json({ error: { code: "not_found" } }, { status: 404 })
    yield* run(...taken)
    const { KINORA_ADMIN_TOKEN: _, ...withoutToken } = env
    const cases: ReadonlyArray<readonly [code: number, text: string, outcome: Effect.Effect<Terminal.Outcome>]> = [
      [1, "email_taken", run(...taken)],
      [1, "not_found", run("account", "get", "acct_unknown")],
      [1, "email", run("account", "create", "nobody")],
      [1, "KINORA_ADMIN_TOKEN", Terminal.runWith(["account", "list"], withoutToken, fetch)],
      [1, "unauthorized", Terminal.runWith(["account", "list"], { ...env, KINORA_ADMIN_TOKEN: "wrong" }, fetch)],
      [1, "not a URL", Terminal.runWith(["account", "list"], { ...env, KINORA_URL: "kinora" }, fetch)],
      [1, "does not respond", Terminal.runWith(["account", "list"], { ...env, KINORA_URL: "http://127.0.0.1:1" })],
      [1, "not one of a Kinora service", Terminal.runWith(["account", "list"], env, async () => new Response("<p>"))],
      [
        1,
        "KINORA_ADMIN_URL",
        Terminal.runWith(["account", "create", "new@example.com"], { ...env, KINORA_URL: "http://a.example" }, notFound)
      ],
      [1, "not an amount", run("wallet", "deposit", host.account.id, "1.005")],
      [2, "acount", run("acount")],
      [2, "email", run("account", "create")],
      [2, "--limit", run("account", "list", "--limit", "101")],
      [2, "pro", run("plan", "studio", host.account.id, "golden")]
    ]
    for (const [code, text, outcome] of cases) {
      const { errors, output, ...result } = yield* outcome
      assert.strictEqual(result.code, code, errors)
      assert.include(errors, text)
      assert.notInclude(errors + output, env.KINORA_ADMIN_TOKEN)
    }
    assert.strictEqual((yield* run("account", "--help")).code, 0)
    assert.match((yield* run("--version")).output, /\d+\.\d+\.\d+/)
    assert.include((yield* run("--completions", "bash")).output, "kinora")
  }).pipe(Effect.scoped))
