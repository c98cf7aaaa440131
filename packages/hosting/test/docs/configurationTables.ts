/** Tables of the sections of the configuration file. Their rows are the fields of the schemas that decode the sections. */
import { PlanTable } from "@kinora/accounts"
import { ScriptedDriver, UpstreamLimits } from "@kinora/generator"
import * as ProceduralDriver from "@kinora/generator-procedural/ProceduralDriver"
import { HttpModeration, OpenAiModeration } from "@kinora/moderation"
import * as OidcOptions from "@kinora/oidc/OidcOptions"
import { Duration, Schema } from "effect"
import { code, rowsOf, type Table } from "./Page.ts"

const head = ["option", "default", "description"]

/** Formats a duration as a configuration file has it, such as `1 minute`. */
const time = (duration: Duration.Duration) => {
  const millis = Duration.toMillis(duration)
  const [count, unit] = millis % 60_000 === 0
    ? [millis / 60_000, "minute"]
    : millis % 1_000 === 0
    ? [millis / 1_000, "second"]
    : [millis, "millisecond"]
  return code(`${count} ${unit}${count === 1 ? "" : "s"}`)
}

const limits = UpstreamLimits.defaults

/** Limits of the calls to a driver. */
export const upstreamLimits: Table = {
  head: ["field", "default", "description"],
  rows: rowsOf(Object.keys(UpstreamLimits.UpstreamLimits.fields), {
    credential: [
      "name of the driver",
      "name of the account at the upstream, never its secret; drivers with the same name share `concurrency` and " +
      "`requests_per_minute`, and should have the same values; its jobs continue with this credential only, see " +
      "[Rotate the key of an upstream](../how-to/rotate-upstream-keys.md)"
    ],
    per_worker: [
      code("false"),
      "`true`: each worker process has an upstream of its own, such as its GPU, with these limits each"
    ],
    concurrency: [
      "no limit",
      "jobs that are at the upstream at the same time, 1 to 1,000,000; workers run other jobs meanwhile"
    ],
    requests_per_minute: ["no limit", "jobs that are submitted within any minute, 1 to 1,000,000"],
    failures_max: [
      String(limits.failures_max),
      "successive failures after which no job is submitted for `open_time`: no response, an overload, or a rejected " +
      "credential; submits and polls are counted separately"
    ],
    open_time: [
      time(limits.open_time),
      "time until one job tests whether the upstream works again; doubles with each failed test, up to 8 times the value, " +
      "and is at least the time that the upstream asks for"
    ],
    pause_after: [
      time(limits.pause_after),
      "how long an upstream fails before models without another upstream are " +
      "[paused](../how-to/use-several-upstreams.md#when-an-upstream-fails)"
    ],
    callback_poll_max: [
      time(limits.callback_poll_max),
      "longest time between two polls of a job whose upstream [calls back](../how-to/use-callbacks.md)"
    ]
  })
}

/** Options of the driver `procedural`. */
export const procedural: Table = {
  head,
  rows: rowsOf(Object.keys(ProceduralDriver.Options.fields), {
    threads: ["cores minus 1", "pictures that are drawn at once, 1 to 64"],
    queue_max: ["64", "pictures that are drawn or wait; beyond it, jobs are submitted again later"],
    finished_max: ["16", "finished pictures that wait to be stored; the oldest are drawn again"],
    encoder: [
      code("auto"),
      "encoder of videos: `wasm` works everywhere, `ffmpeg` is the installed program, `auto` is `ffmpeg` if it works"
    ],
    load: [
      "",
      "load mode for drills, with `latency_median`, `latency_p95`, `latency_max` and `failure_rate`: draws one file per shape " +
      "and sends it for every job, after a random time"
    ]
  })
}

const scriptedDefaults = Schema.decodeSync(ScriptedDriver.Options)({})

/** Options of the driver `scripted`. */
export const scripted: Table = {
  head,
  rows: rowsOf(Object.keys(ScriptedDriver.Options.fields), {
    poll_interval: [time(scriptedDefaults.poll_interval), "interval between polls"],
    resubmit: [
      code(scriptedDefaults.resubmit),
      "`unsafe`: behaves like a provider without idempotency, where a second submit pays twice"
    ]
  })
}

/** Options of a model of the driver `scripted`. */
export const scriptedModel: Table = {
  head,
  rows: rowsOf(Object.keys(ScriptedDriver.ModelOptions.fields), {
    delay: ["none", "time from start to outcome: `20 seconds`"],
    delay_min: ["none", "instead of `delay`: the least of a uniformly distributed time"],
    delay_max: ["none", "the longest of these times"],
    failure: [
      code("generation_failed"),
      "code of failed jobs: `generation_failed`, `content_rejected`, `invalid_input`, `upstream_error` or `upstream_timeout`"
    ],
    failure_rate: ["1 with a `failure`, else 0", "fraction of the jobs that fail, 0 to 1, chosen at random"],
    bytes: ["4096", "size of the result"]
  })
}

/** Options of `moderation`. */
export const moderation: Table = {
  head,
  rows: rowsOf(
    new Set([
      ...Object.keys(HttpModeration.Options.fields),
      ...Object.keys(OpenAiModeration.Options.fields)
    ]),
    {
      url: ["", "`hook`: where checks are posted"],
      secret: ["", "`hook`: key of the signatures"],
      api_key: ["", "`openai`: key of the API"],
      base_url: [code("https://api.openai.com/v1"), "`openai`: address of the API"],
      model: [code("omni-moderation-latest"), "`openai`: model that checks"],
      private: [code("false"), "allows HTTP and private addresses"],
      timeout: [code("10 seconds"), "time limit of a request"],
      on_failure: [code("reject"), "`accept`: content without a verdict is accepted, and a warning is logged"],
      file_bytes_max: [code(String(4 * 1024 ** 2)), "bytes of a file that is sent"]
    }
  )
}

/** Options of a provider of `oidc`. */
export const oidc: Table = {
  head,
  rows: rowsOf(Object.keys(OidcOptions.OidcProvider.fields), {
    id: ["", "part of the redirect URI: lower-case letters, digits and `-`, at most 32; unique"],
    name: ["", "name on the sign-in page, at most 64 characters"],
    issuer: ["", "issuer of the provider, which can be in a private network"],
    client_id: ["", "id of the client that is registered with the provider"],
    client_secret: ["none", "secret of the client; a public client has none"],
    client_authentication: [code("basic"), "`basic` sends the secret in a header, `post` in the body"],
    scopes: [code("openid, email, profile"), "scopes to request, with `openid`"],
    groups_claim: [code("groups"), "claim with the groups of a person: a list of texts, or one text"],
    groups: [
      "none",
      "rights by group: `operator` with a role, or `account` (e-mail address or id) with `role` `member` or `viewer`"
    ],
    timeout: [code("10 seconds"), "time limit of the requests that a page waits for, together: 1 to 30 seconds"],
    allow_http: [
      code("false"),
      "allows an `http` issuer, for a provider in a private network; its tokens and secrets are sent without encryption"
    ]
  })
}

const { credits, studio, ...others } = Schema.encodeSync(PlanTable.PlanTable)(PlanTable.defaults)

/** Fields of `plans`, without the groups and their tiers. */
export const plans: Table = {
  head: ["field", "description"],
  rows: rowsOf(
    new Set([others, studio?.pro ?? {}, credits?.pro ?? {}].flatMap(Object.keys)),
    {
      period_days: "days per period",
      free: "limits of a group in which an account has no plan",
      create_rpm: "creations per minute in the group",
      concurrency: "jobs of the group that run at once; further ones wait",
      weight: "share in the workers, relative to other accounts: 1 to 1000",
      price_cents: "US cents per period",
      quota: "jobs of a Studio plan per UTC day: `images` and `videos`",
      credits: "credits that each period of a Credits plan brings"
    }
  )
}
