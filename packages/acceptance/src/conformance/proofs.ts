/**
 * The tests that prove the statements of `docs/reference/operator-api.md`, which are not of the conformance cases: the
 * operators of a service are not its clients.
 */

import { operatorSections } from "./operatorProofs.ts"
import { type Proof, test } from "./Proof.ts"
import { signInProofs } from "./signInProofs.ts"

const admin = test("http-server/test/Admin.test.ts")
const operators = test("http-server/test/Operators.test.ts")
const accounts = test("accounts/test/AccountsContract.ts")
const keyBudgets = test("accounts/test/KeyBudgetContract.ts")
const keyTerms = test("accounts/test/KeyTermsContract.ts")
const wallet = test("accounts/test/WalletContract.ts")
const payments = test("http-server/test/Payments.test.ts")
const checkouts = test("generations/test/CheckoutsContract.ts")
const paymentStore = test("payments/test/PaymentsContract.ts")
const listener = test("hosting/test/OperatorListener.test.ts")
const paths = test("hosting/test/Paths.test.ts")
const document = test("http-api/test/AdminOpenApi.test.ts")
const lots = test("ledger/src/internal/contract/lots.ts")
const webhooks = test("webhooks/test/WebhooksContract.ts")
const webhookRoutes = test("http-server/test/AdminWebhooks.test.ts")
const interventions = test("generations/test/InterventionsContract.ts")
const suspension = test("http-server/test/Suspension.test.ts")
const worker = test("scheduler/test/Worker.test.ts")

/** Rows of the tables of operations, which are generated. */
const operations = {
  "| ": [
    ...test("hosting/test/docs/apiOperations.test.ts")("lists every operation of the operator API"),
    ...test("acceptance/test/fuzz.test.ts")("cause no 500 and no discrepancy")
  ]
}

/** By the anchor of the section and the beginning of the statement. Statements without a test introduce others. */
export const operatorApi: Readonly<Record<string, Readonly<Record<string, ReadonlyArray<Proof>>>>> = {
  "operator-api": { "The contract of": [] },
  "listener": {
    "The operator API": [...paths("match exactly on the listener for operators"), ...paths("do not include those")],
    "| ": listener("is at the documented address"),
    "If the listener for operators": [
      ...paths("match exactly on the listener for clients, which has none of operators"),
      ...test("hosting/test/Http.test.ts")(
        "serves the metrics and the readiness of a worker",
        "explains why the listener for operators cannot be opened"
      )
    ],
    "Each of several": test("acceptance/test/processes.integration.test.ts")(
      "handles requests in each, and replaces a process that is killed, whose job continues",
      "does not start if a process cannot"
    )
  },
  "access": {
    "Every request to": [
      ...test("http-server/test/EveryRoute.test.ts")("rejects requests without the token"),
      ...operators("requires at least a role on every route")
    ],
    "| ": operators("requires at least a role on every route", "permits auditors all reads and nothing else"),
    "The OpenAPI document": [
      ...operators("requires at least a role on every route"),
      ...document("requires the token everywhere")
    ],
    "- If `KINORA_ADMIN_TOKEN` is unset": admin("returns 404 for every path if no token is configured"),
    "- A missing, wrong": [
      ...admin("rejects a wrong token, counts it as a failed authentication"),
      ...operators("authenticates operators until they expire or are revoked")
    ],
    "- Conventions, ids and errors": [
      ...admin("lists every problem of a body with its path", "returns 404 for unknown and malformed ids"),
      ...document("documents numbers in headers and queries as integers, and bodies without other properties")
    ],
    "- Requests with the token": admin("rejects a wrong token, counts it as a failed authentication"),
    "- Every change is recorded": [
      ...operators("appends an entry for every change"),
      ...admin("logs each change with its subject and without secrets")
    ],
    "- [Errors]": test("hosting/test/docs/errors.test.ts")("lists every code")
  },
  "accounts": {
    ...operations,
    "- An account is created": [
      ...accounts("creates active accounts without a plan", "creates one account per email address"),
      ...admin("creates one account per e-mail address")
    ],
    "- Accounts are listed": [
      ...accounts("lists accounts by part of their address"),
      ...admin("lists accounts by address and status")
    ],
    "- `PATCH` changes": [
      ...accounts("changes an email address"),
      ...admin("changes the e-mail address of an account")
    ],
    "- A suspended account": [
      ...accounts("suspends and resumes immediately on this host, and within 5 seconds on another"),
      ...admin("suspends and resumes an account")
    ],
    "- Deleting an account": [
      ...accounts("deletes an account with its keys and plans"),
      ...suspension("rejects the keys and the signed URLs of a deleted account")
    ],
    "- A deleted account is erased": test("generations/test/AccountDeletionContract.ts")(
      "lose their webhook endpoints at once",
      "cannot be erased before their uploads and idempotency keys have expired"
    ),
    "- An account has": admin("creates one account per e-mail address")
  },
  "api-keys": {
    ...operations,
    "- A key is created": admin("creates keys that work until they are revoked"),
    "- A key can be restricted": [
      ...keyTerms("returns the terms of a key", "rejects terms under which a key is good for nothing"),
      ...test("acceptance/test/conformance/authentication.ts")("authentication.terms")
    ],
    "- A key can have a `budget`": keyBudgets("returns the budget of a key with its record", "rejects invalid limits"),
    "- `PATCH` changes the `name` and the limits": [
      ...keyTerms("renames a key, and rejects invalid names"),
      ...keyBudgets("changes the limits that are given", "rejects invalid limits"),
      ...admin(
        "creates keys with a budget, changes it and shows what is used",
        "renames a key, and records the change once"
      )
    ],
    "- `budget_max` of a record": keyBudgets("a member sets limits up to those of an operator"),
    "- Rolling a key": [
      ...keyTerms("rolls a key", "does not extend a key by rolling it", "rolls keys of its own account"),
      ...keyBudgets("a rolled key shares the budget and what is used of it")
    ],
    "- An account can have 100 keys": [
      ...accounts("never exceeds keysMax with concurrent calls"),
      ...keyTerms("does not count expired keys"),
      ...admin("limits the keys of an account")
    ],
    "- The list contains": [
      ...accounts("lists active keys before revoked ones", "deletes keys that were revoked long ago"),
      ...keyTerms("deletes keys that expired long ago")
    ],
    "- Revoking takes effect": accounts("revokes a key immediately on this host, and within 5 seconds on another"),
    "- A record has": admin("creates keys that work until they are revoked"),
    "- Responses that contain a secret": [
      ...document("forbids caches to store responses with a secret"),
      ...webhookRoutes("forbids caches to store an API key")
    ]
  },
  "members": {
    ...operations,
    "- The operations are": test("http-server/test/Members.test.ts")(
      "permits operators to invite, change and remove the members of an account"
    ),
    "- A deleted account": test("http-server/test/Members.test.ts")(
      "permits operators to invite, change and remove the members of an account"
    )
  },
  "plans": {
    ...operations,
    "- A plan has": admin("sets and ends the plan of each group"),
    "- Setting a plan": [
      ...accounts("sets, replaces and removes the plans of each group"),
      ...admin("sets and ends the plan of each group")
    ],
    "- Ending a plan": admin("sets and ends the plan of each group"),
    "- Subscribing takes": admin("subscribes to plans, changes their tier and stops their renewal"),
    ...Object.fromEntries(["started", "raised", "scheduled", "continued"].map((outcome) => [
      `| \`${outcome}\``,
      admin("subscribes to plans, changes their tier and stops their renewal")
    ])),
    "- Stopping the renewal": [
      ...admin("subscribes to plans, changes their tier and stops their renewal"),
      ...wallet("pay no renewal of a plan after it was stopped")
    ]
  },
  "balance": {
    ...operations,
    "- A deposit": [...wallet("book a deposit once per reference"), ...admin("adds to the balance once per reference")],
    "- A debit": [...wallet("book a debit once per reference"), ...admin("takes from the balance once per reference")],
    "- The changes of the balance": wallet("list their movements page by page"),
    "- A checkout": [
      ...payments(
        "opens a checkout, and credits it once",
        "rejects checkouts of unknown and deleted accounts, wrong amounts",
        "responds with the reason if Stripe rejects a checkout",
        "has neither checkouts nor the receiver"
      ),
      ...paymentStore("rejects amounts out of bounds", "limits the open payments of an account")
    ],
    "- A payment becomes": [
      ...checkouts(
        "add to the balance once, however many webhooks",
        "add nothing and log an error if the amount",
        "of a deleted account stay paid without a deposit"
      ),
      ...test("acceptance/test/payments.test.ts")("a host credits a payment whose webhook is missing"),
      ...paymentStore("claims an open payment once per pause")
    ],
    "- Payments are listed": [
      ...payments("lists payments page by page"),
      ...paymentStore("deletes payments that ended before the retention")
    ],
    "- Stripe sends webhooks": payments(
      "opens a checkout, and credits it once",
      "rejects webhooks that are not signed",
      "ignores checkouts of other programs",
      "accepts only POST with a body of at most 256 KiB"
    )
  },
  "jobs": {
    ...operations,
    "- The jobs of an account": admin("lists the jobs of an account, shows any job"),
    "- A job has": admin("lists the jobs of an account, shows any job"),
    "- A search finds": test("generations/test/ListingContract.ts")(
      "return the jobs of all accounts that match",
      "read a limited number of an account's jobs"
    ),
    "- A single job also has": admin("lists the jobs of an account, shows any job"),
    "- Each attempt of a job": [
      ...test("http-server/test/AdminTimeline.test.ts")("shows each attempt of a job, and that an operator failed it"),
      ...test("generations/test/AttemptsContract.ts")(
        "are recorded by each start, and end once",
        "are limited to the newest ones of a job",
        "show a lost worker, a requeue, and the run that completes the job"
      )
    ],
    "- `event_published` in a timeline": test("http-server/test/AdminTimeline.test.ts")(
      "shows the webhook events of a job with failed and successful attempts, until they are deleted",
      "omits the deliveries of endpoints that were removed"
    ),
    "- A job that has not started can be cancelled": admin("lists the jobs of an account, shows any job"),
    "- A job that has not ended can be failed": interventions("fail a running job once", "fail a job that waits"),
    "- A job that a worker runs can be requeued": interventions("requeue a running job")
  },
  "workers-and-queues": {
    ...operations,
    "- The workers are": test("scheduler/src/internal/contract/workers.ts")("lists the workers whose lease holds"),
    "- A worker can be drained": [
      ...worker("claims no more jobs while it is asked to drain, and other workers continue"),
      ...test("scheduler/src/internal/contract/workers.ts")("asks a worker to drain while its lease holds")
    ],
    "- The queue has": test("http-server/test/AdminQueue.test.ts")("lists workers, the queues of models"),
    "- A lane is": test("http-server/test/AdminQueue.test.ts")("lists workers, the queues of models")
  },
  "models": {
    ...operations,
    "- A model has": test("http-server/test/AdminModels.test.ts")("lists, pauses and resumes models"),
    "- A paused model": test("generations/test/PausesContract.ts")("reject new jobs, keep waiting ones in the queue")
  },
  "ledger": {
    ...operations,
    "- A grant opens": [...lots("opens a lot once per reference"), ...admin("grants a lot once per reference")],
    "- Revoking a lot": lots("revokes what is left in a lot, once"),
    "- The credits of an account": admin("returns the credits of an account"),
    "- The bookings of an account": test("ledger/src/internal/contract/quotas.ts")(
      "lists the transactions of an account newest first"
    ),
    "- The transactions of a job": admin("lists the bookings of a job, oldest first"),
    "- The bookings of a job": admin("lists the bookings of a job, oldest first"),
    "- `verify` compares": [
      ...test("ledger/src/internal/contract/concurrency.ts")("verifies all accounts page by page with the same result"),
      ...admin("verifies the books of all accounts page by page")
    ],
    "- `trial-balance` sums up": [
      ...test("ledger/src/internal/contract/trialBalance.ts")(
        "sums up all accounts by class",
        "balances at any moment while accounts are charged"
      ),
      ...test("ledger/test/TrialBalance.integration.test.ts")(
        "do not balance while an entry has another amount or book"
      ),
      ...admin("sums up the books of all accounts in a trial balance")
    ]
  },
  "webhook-endpoints": {
    ...operations,
    "- An endpoint is registered": [
      ...webhooks("registers an endpoint and returns its secret once", "limits an account to five endpoints"),
      ...webhookRoutes("rejects URLs that webhooks cannot be sent to")
    ],
    "- An endpoint has": webhookRoutes("updates the given properties only"),
    "- Removing an endpoint": test("webhooks/src/internal/contract/sweeps.ts")("hides a removed endpoint immediately"),
    "- Issuing a new secret": webhookRoutes("rotates secrets, with at most 5 active ones"),
    "- A test event": webhookRoutes("sends a test event, lists the attempts", "sends nothing to a disabled endpoint"),
    "- A delivery has": webhookRoutes("lists deliveries page by page, newest first"),
    "- A delivery with its body": webhookRoutes("shows the body of a delivery"),
    "- `resend-failed` sends": webhookRoutes("shows the body of a delivery, and resends the failed deliveries"),
    "- A send has": webhookRoutes("sends a test event, lists the attempts"),
    "[Webhooks](webhooks.md)": []
  },
  ...operatorSections(operations),
  "sign-in-links": { ...operations, ...signInProofs }
}
