/** Output of a start: a page of text, or one line of JSON. */
import type { Model } from "@kinora/catalog"
import type { Process, Settings } from "@kinora/hosting"
import { Array as Arr, Option, Redacted } from "effect"
import { resolve } from "node:path"
import type { Ready } from "./ServerHost.ts"

/** JSON with `base_url`, and `operator_url` and the demo account's `api_key` or null. */
export const json = ({ apiKey, baseUrl, operatorUrl }: Ready): Process.Ready["json"] => ({
  base_url: baseUrl,
  operator_url: Option.getOrNull(operatorUrl),
  api_key: Option.match(apiKey, { onNone: () => null, onSome: Redacted.value })
})

/** A page with the addresses, the key and a `curl` command that creates a job. */
export const page = (ready: Ready, settings: Settings.Settings): string => {
  const { baseUrl } = ready
  const database = settings.databaseUrl === undefined ? "embedded database" : "Postgres"
  const workers = settings.workers === 0 ? "none in this process" : `${settings.workers} concurrent jobs`
  const webhooks = settings.webhookSends === 0
    ? "not sent by this process"
    : `${settings.webhookSends} concurrent sends`
  return `
  Kinora is ready.

    Base URL   ${baseUrl}
    Operator   ${operatorText(ready, settings)}
    API key    ${keyText(ready, settings)}
    Data       ${resolve(settings.dataDirectory)} (${database})
    Workers    ${workers}
    Webhooks   ${webhooks}
    Docs       ${baseUrl}/docs
    Console    ${consoleText(ready, settings)}
${curl(ready)}`
}

/** Joins what the processes of a server would print alone. Each has a listener for operators of its own. */
export const join = (all: ReadonlyArray<Process.ReadyMember>): Process.Ready => {
  const processes = all.map(({ json: { operator_url: url }, pid }) => ({
    pid,
    operator_url: typeof url === "string" ? url : null
  }))
  const lines = processes.map(({ operator_url: url, pid }) => `    ${pid}${url === null ? "" : `   ${url}`}\n`)
  return {
    page: `${all[0]?.page ?? ""}\n  ${all.length} processes, by id:\n\n${lines.join("")}`,
    json: { ...all[0]?.json, processes }
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const operatorText = ({ operatorUrl }: Ready, { adminToken }: Settings.Settings): string =>
  Option.match(operatorUrl, {
    onNone: () => "off: nothing serves /readyz, /metrics and the operator API",
    onSome: (url) => `${url} (/readyz, /metrics${adminToken === undefined ? "" : ", /admin/v1"})`
  })

const keyText = ({ apiKey }: Ready, { adminToken, demoAccount }: Settings.Settings): string => {
  if (Option.isSome(apiKey)) return `${Redacted.value(apiKey.value)} (demo account: Studio pro, 1,000 credits)`
  if (demoAccount) return "printed by the host that created the demo account, at its first start"
  return adminToken === undefined
    ? "none: set KINORA_ADMIN_TOKEN, and create an account (kinora account create)"
    : "none: create an account (kinora account create)"
}

const consoleText = (
  { baseUrl, isConsoleBuilt, signInLinks: { account, operator } }: Ready,
  { console }: Settings.Settings
): string => {
  if (!console) return "off"
  if (!isConsoleBuilt) return "not built: run `npm run build -w @kinora/console`, and restart the server"
  const links = [
    ...Option.toArray(Option.map(account, (url) => `${url} (demo account)`)),
    ...Option.toArray(Option.map(operator, (url) => `${url} (operator)`))
  ]
  return links.length === 0
    ? `${baseUrl}/console/ (links: kinora account sign-in-link, kinora operator sign-in-link)`
    : `sign in once, within 10 minutes:${links.map((link) => `\n               ${link}`).join("")}`
}

/** Returns commands that create a job with the key and wait for it. Empty without a key, or if no model starts from text. */
const curl = ({ apiKey, baseUrl, models }: Ready): string =>
  Option.match(Option.all([apiKey, exampleModel(models)]), {
    onNone: () => "",
    onSome: ([key, { id, kind, studio_eligible }]) => `
  Create ${kind === "image" ? "an image" : "a video"}:

    curl -s ${baseUrl}/v1/generations \\
      -H 'Authorization: Bearer ${Redacted.value(key)}' \\
      -H 'Content-Type: application/json' \\
      -d '{"plan":"${studio_eligible ? "studio" : "credits"}","model":"${id}","params":{"prompt":"a lake at dawn"}}'

  Wait for the returned id, then open its output.url:

    curl -s '${baseUrl}/v1/generations/<id>?wait=60' -H 'Authorization: Bearer ${Redacted.value(key)}'
`
  })

/** Returns the first model that creates images from text, or else videos. */
const exampleModel = (models: ReadonlyArray<Model.Model>): Option.Option<Model.Model> => {
  const first = (mode: Model.Mode) =>
    Arr.findFirst(models, ({ capabilities, status }) => status !== "paused" && capabilities.includes(mode))
  return Option.orElse(first("text_to_image"), () => first("text_to_video"))
}
