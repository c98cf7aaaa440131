import { assert, describe, it } from "@effect/vitest"
import { PlanTable } from "@kinora/accounts"
import { Duration, Effect, Redacted } from "effect"
import { IpNetwork } from "effect/net"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Settings from "../src/Settings.ts"

/** Loads the settings from a configuration file with this text. */
const loadWith = (text: string, environment: Record<string, string> = {}) =>
  Effect.acquireUseRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "kinora-settings-"))),
    (directory) =>
      Effect.gen(function*() {
        const path = join(directory, "config.yaml")
        yield* Effect.promise(() => writeFile(path, text))
        return yield* Settings.load({ KINORA_CONFIG: path, ...environment })
      }),
    (directory) => Effect.promise(() => rm(directory, { recursive: true }))
  )

const secret = "a-secret-of-more-than-thirty-two-characters"

describe("Settings", () => {
  it.effect("has no demo account on a public address and on Postgres, unless it is asked for", () =>
    Effect.gen(function*() {
      const of = (environment: Readonly<Record<string, string>>) =>
        Effect.map(Settings.load(environment), ({ demoAccount }) => demoAccount)
      const postgres = { KINORA_DATABASE_URL: "postgres://kinora@localhost/kinora" }
      const everyone = { KINORA_HOST: "0.0.0.0" }
      assert.isTrue(yield* of({}))
      assert.isTrue(yield* of({ KINORA_HOST: "localhost" }))
      for (const environment of [postgres, everyone, { KINORA_HOST: "::" }, { KINORA_HOST: "192.0.2.1" }]) {
        assert.isFalse(yield* of(environment))
        assert.isTrue(yield* of({ ...environment, KINORA_DEMO_ACCOUNT: "true" }))
      }
      assert.isFalse(yield* of({ KINORA_DEMO_ACCOUNT: "false" }))
    }))

  it.effect("has defaults for a first start", () =>
    Effect.gen(function*() {
      const settings = yield* Settings.load({})
      assert.deepStrictEqual(settings, {
        host: "127.0.0.1",
        port: 4747,
        adminHost: undefined,
        adminPort: undefined,
        processes: 1,
        baseUrl: undefined,
        callbackOrigin: undefined,
        trustedProxies: [],
        corsOrigins: [],
        dataDirectory: "./data",
        databaseUrl: undefined,
        databasePoolSize: 16,
        databaseWait: Duration.seconds(60),
        databaseStatement: Duration.seconds(4),
        databaseUnit: Duration.seconds(10),
        databaseLock: Duration.millis(300),
        databaseIdle: Duration.seconds(1),
        clockSkewMax: Duration.seconds(2),
        sweepDeadline: Duration.minutes(5),
        storageSilence: Duration.seconds(30),
        partialFileAge: Duration.hours(24),
        partialFileInterval: Duration.minutes(60),
        workers: 4,
        workerReserved: 1,
        workerModels: undefined,
        jobLease: Duration.seconds(8),
        jobGrace: Duration.seconds(30),
        inputPixelsPerMinute: 500_000_000,
        media: {
          concurrency: 2,
          inputConcurrency: 2,
          probe: {
            bytesMax: 2 * 1024 ** 3,
            sideMax: 16_384,
            pixelsMax: 2 ** 27,
            durationMax: Duration.hours(1),
            tracksMax: 8,
            readsMax: 100_000
          },
          frame: {
            program: "ffmpeg",
            directory: undefined,
            fileBytesMax: 512 * 1024 ** 2,
            pixelsMax: 40_000_000,
            secondsMax: 20
          }
        },
        urlSigningKeys: [],
        webhookKeys: [],
        webhookSends: 256,
        webhookOwnDomains: [],
        webhookOwnAddresses: true,
        webhookAllowedNetworks: [],
        webhookAllowPrivate: false,
        adminToken: undefined,
        demoAccount: true,
        console: true,
        sessions: {
          maxAge: Duration.days(7),
          idle: Duration.hours(12),
          operatorMaxAge: Duration.hours(12),
          operatorIdle: Duration.hours(1)
        },
        stripe: undefined,
        resultTtl: Duration.hours(24),
        retention: {
          jobs: Duration.days(90),
          usage: Duration.days(731),
          revokedKeys: Duration.days(90),
          audit: Duration.days(731),
          failedSignIns: Duration.days(90),
          deletedAccounts: Duration.days(30),
          payments: Duration.days(731)
        },
        webhookTtl: Duration.days(7),
        downloadBytesPerDay: 50 * 1024 ** 3,
        downloadLinkShare: 0.5,
        resultDownloadMultiple: 10,
        downloadStreamsMax: 8,
        downloadPicturesMax: 200,
        requestTime: Duration.seconds(5),
        uploads: { uploadsMax: 1_000, uploadBytesMax: 1024 ** 3 },
        requestsMax: 512,
        connectionsMax: 10_000,
        addressConnectionsMax: 2_500,
        smallBodiesBytesMax: 16 * 1024 ** 2,
        bodyTimeMax: Duration.seconds(30),
        transferRateMin: 16 * 1024,
        responseStallMax: Duration.seconds(30),
        imageWait: Duration.seconds(50),
        drain: Duration.zero,
        requestGrace: Duration.seconds(25),
        readinessMax: Duration.seconds(2),
        metrics: true,
        logLevel: "info",
        driverFile: undefined,
        moderation: undefined,
        oidc: undefined,
        proxyUserHeader: undefined,
        models: undefined,
        planTable: PlanTable.defaults,
        shown: yield* Settings.effective({})
      })
    }))

  it.effect("prefers the environment to the file and the file to the default", () =>
    Effect.gen(function*() {
      const settings = yield* loadWith("host: 0.0.0.0\nport: 8000\nmodels:\n  - id: a\n", { KINORA_PORT: "0" })
      assert.strictEqual(settings.host, "0.0.0.0")
      assert.strictEqual(settings.port, 0)
      assert.strictEqual(settings.workers, 4)
      assert.deepStrictEqual(settings.models, [{ id: "a" }])
    }))

  it.effect("keeps the drivers of the file with their directory and the environment", () =>
    Effect.gen(function*() {
      const { driverFile } = yield* loadWith("drivers:\n  mine: ./mine.ts\n", { MINE_KEY: "hunter2" })
      assert.deepStrictEqual(driverFile?.content, { mine: "./mine.ts" })
      assert.match(driverFile?.directory ?? "", /^\/.*kinora-settings-[^/]+$/)
      assert.notInclude(JSON.stringify(driverFile), "hunter2")
      assert.strictEqual((yield* loadWith("drivers:\n")).driverFile, undefined)
    }))

  it.effect("keeps rows forever for which the time is off", () =>
    Effect.gen(function*() {
      const { retention } = yield* Settings.load({
        KINORA_JOBS_TTL_DAYS: "off",
        KINORA_USAGE_TTL_DAYS: "31",
        KINORA_AUDIT_TTL_DAYS: "off",
        KINORA_FAILED_SIGN_INS_TTL_DAYS: "1"
      })
      assert.isFalse(Duration.isFinite(retention.jobs))
      assert.isFalse(Duration.isFinite(retention.audit))
      assert.deepStrictEqual(retention.usage, Duration.days(31))
      assert.deepStrictEqual(retention.failedSignIns, Duration.days(1))
      const error = yield* Effect.flip(Settings.load({ KINORA_JOBS_TTL_DAYS: "1", KINORA_WEBHOOKS_TTL_DAYS: "off" }))
      assert.strictEqual(error.problems.length, 2)
    }))

  it.effect("treats an empty variable as unset, including KINORA_CONFIG", () =>
    Effect.gen(function*() {
      const settings = yield* Settings.load({ KINORA_CONFIG: "", KINORA_PORT: "" })
      assert.strictEqual(settings.port, 4747)
    }))

  it.effect("ignores the variables that Kubernetes sets for Services, and those of the command", () =>
    Effect.gen(function*() {
      const settings = yield* loadWith("port: 8000\n", {
        KINORA_SERVICE_HOST: "10.0.0.1",
        KINORA_SERVICE_PORT: "4747",
        KINORA_SERVICE_PORT_HTTP: "4747",
        KINORA_PORT: "tcp://10.0.0.1:4747",
        KINORA_PORT_4747_TCP: "tcp://10.0.0.1:4747",
        KINORA_PORT_4747_TCP_PROTO: "tcp",
        KINORA_PORT_4747_TCP_PORT: "4747",
        KINORA_PORT_4747_TCP_ADDR: "10.0.0.1",
        KINORA_ADMIN_SERVICE_HOST: "10.0.0.2",
        KINORA_ADMIN_PORT: "tcp://10.0.0.2:4748",
        KINORA_URL: "http://127.0.0.1:4747",
        KINORA_ADMIN_URL: "http://127.0.0.1:4748",
        KINORA_API_KEY: "kin_",
        KINORA_PROFILE: "default"
      })
      assert.strictEqual(settings.port, 8000)
      for (const name of ["KINORA_SERVICE", "KINORA_SERVICES_HOST", "KINORA_PORT_4747", "KINORA_HTTP_PORT"]) {
        const { message } = yield* Effect.flip(Settings.load({ [name]: "1" }))
        assert.include(message, `${name} is not a setting`)
      }
      const { message } = yield* Effect.flip(Settings.load({ KINORA_PORT: "http://10.0.0.1:4747" }))
      assert.include(message, "a port from 0 to 65535")
    }))

  it.effect("rejects a list or a mapping for a scalar setting", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(loadWith("host:\n  a: 1\ndata_dir: [data, more]\nport: [1]\n"))
      assert.deepStrictEqual(error.problems.map(({ problem }) => problem), [
        "is {\"a\":1}; expected an address to listen on",
        "is [1]; expected a port from 0 to 65535",
        "is [\"data\",\"more\"]; expected a directory"
      ])
    }))

  it.effect("reads the limits of results and of their first frames", () =>
    Effect.gen(function*() {
      const { media } = yield* loadWith(
        "probe_mib: 1\nprobe_side_max: 100\nprobe_pixels_max: 5000\nprobe_duration_seconds: 5\nprobe_tracks_max: 2\n" +
          "probe_reads_max: 200\nframe_program: /opt/ffmpeg\nframe_directory: /var/tmp\nframe_mib: 3\n",
        { KINORA_FRAME_PIXELS_MAX: "6000", KINORA_FRAME_SECONDS: "7" }
      )
      assert.deepStrictEqual(media, {
        concurrency: 2,
        inputConcurrency: 2,
        probe: {
          bytesMax: 1024 ** 2,
          sideMax: 100,
          pixelsMax: 5_000,
          durationMax: Duration.seconds(5),
          tracksMax: 2,
          readsMax: 200
        },
        frame: {
          program: "/opt/ffmpeg",
          directory: "/var/tmp",
          fileBytesMax: 3 * 1024 ** 2,
          pixelsMax: 6_000,
          secondsMax: 7
        }
      })
    }))

  it.effect("reads the limits of images", () =>
    Effect.gen(function*() {
      const { inputPixelsPerMinute, media } = yield* loadWith("input_images: 4\nresult_images: 3\n", {
        KINORA_INPUT_MEGAPIXELS_PER_MINUTE: "160"
      })
      assert.deepInclude(media, { concurrency: 3, inputConcurrency: 4 })
      assert.strictEqual(inputPixelsPerMinute, 160_000_000)
    }))

  it.effect("reads the access to Stripe", () =>
    Effect.gen(function*() {
      const stripe = { KINORA_STRIPE_SECRET_KEY: "rk_test_0123456789" }
      const { apiBase, secretKey, webhookSecrets } = (yield* loadWith(
        "stripe_webhook_secrets: [whsec_0123456789, whsec_9876543210]\nstripe_api_url: http://127.0.0.1:8080\n",
        stripe
      )).stripe!
      assert.strictEqual(Redacted.value(secretKey), "rk_test_0123456789")
      assert.deepStrictEqual(webhookSecrets.map(Redacted.value), ["whsec_0123456789", "whsec_9876543210"])
      assert.strictEqual(apiBase, "http://127.0.0.1:8080")
      assert.deepInclude((yield* Settings.load(stripe)).stripe, {
        apiBase: undefined,
        webhookSecrets: []
      })
      const error = yield* Effect.flip(Settings.load({
        KINORA_STRIPE_SECRET_KEY: "pk_test_0123456789",
        KINORA_STRIPE_WEBHOOK_SECRETS: "whsec_0123456789,mysecret",
        KINORA_STRIPE_API_URL: "https://user@api.stripe.com"
      }))
      assert.strictEqual(error.problems.length, 3)
      assert.notMatch(error.message, /0123456789|mysecret/)
    }))

  it.effect("shows no secret among the effective settings", () =>
    Effect.gen(function*() {
      const shown = yield* Settings.effective({
        KINORA_STRIPE_SECRET_KEY: "sk_test_0123456789",
        KINORA_STRIPE_WEBHOOK_SECRETS: "whsec_0123456789"
      })
      assert.deepStrictEqual(shown.filter(({ value }) => value === "(secret)").map(({ variable }) => variable), [
        "KINORA_STRIPE_SECRET_KEY",
        "KINORA_STRIPE_WEBHOOK_SECRETS"
      ])
      assert.notInclude(JSON.stringify(shown), "0123456789")
    }))

  it.effect("reads several signing keys", () =>
    Effect.gen(function*() {
      const settings = yield* Settings.load({ KINORA_URL_SIGNING_KEYS: `${secret}1, ${secret}2` })
      assert.deepStrictEqual(settings.urlSigningKeys.map(Redacted.value), [`${secret}1`, `${secret}2`])
    }))

  it.effect("reads limits and proxies", () =>
    Effect.gen(function*() {
      const settings = yield* loadWith(
        "results_ttl_hours: 48\ndownload_gib_per_day: 1\ndemo_account: false\ntrusted_proxies: [10.0.0.0/8, \"fd00::/8\"]\n",
        {
          KINORA_ADMIN_TOKEN: secret,
          KINORA_DOWNLOAD_MULTIPLE: "3",
          KINORA_DOWNLOAD_STREAMS: "2",
          KINORA_DOWNLOAD_PICTURES: "96",
          KINORA_IMAGE_WAIT_SECONDS: "5",
          KINORA_DRAIN_SECONDS: "10",
          KINORA_REQUEST_GRACE_SECONDS: "7",
          KINORA_READINESS_SECONDS: "4",
          KINORA_JOB_LEASE_SECONDS: "5",
          KINORA_JOB_GRACE_SECONDS: "0",
          KINORA_DATABASE_POOL_SIZE: "4"
        }
      )
      assert.strictEqual(Redacted.value(settings.adminToken ?? Redacted.make("")), secret)
      assert.deepStrictEqual(settings.trustedProxies.map(IpNetwork.format), ["10.0.0.0/8", "fd00::/8"])
      assert.deepInclude(settings, {
        demoAccount: false,
        resultTtl: Duration.hours(48),
        downloadBytesPerDay: 1024 ** 3,
        resultDownloadMultiple: 3,
        downloadStreamsMax: 2,
        downloadPicturesMax: 96,
        imageWait: Duration.seconds(5),
        drain: Duration.seconds(10),
        requestGrace: Duration.seconds(7),
        readinessMax: Duration.seconds(4),
        jobLease: Duration.seconds(5),
        jobGrace: Duration.zero,
        databasePoolSize: 4
      })
    }))

  it.effect("gives upstreams the base URL to call if they may reach it, or another origin", () =>
    Effect.gen(function*() {
      const originOf = (environment: Readonly<Record<string, string>>) =>
        Effect.map(Settings.load(environment), ({ callbackOrigin }) => callbackOrigin)
      const own = "https://media.example.com"
      assert.strictEqual(yield* originOf({ KINORA_BASE_URL: own }), own)
      for (
        const unreachable of [
          "http://media.example.com",
          "https://localhost:4747",
          "https://media.internal",
          "https://10.0.0.1",
          "https://[::1]"
        ]
      ) {
        assert.isUndefined(yield* originOf({ KINORA_BASE_URL: unreachable }), unreachable)
        const named = { KINORA_BASE_URL: own, KINORA_CALLBACK_URL: unreachable }
        assert.strictEqual(yield* originOf(named), unreachable)
      }
      const error = yield* Effect.flip(Settings.load({ KINORA_CALLBACK_URL: `${own}/path` }))
      assert.include(error.message, "KINORA_CALLBACK_URL")
    }))

  it.effect("reads the settings of webhooks", () =>
    Effect.gen(function*() {
      const settings = yield* loadWith(
        `webhook_own_domains: [example.com, example.net]\nwebhook_keys: [${secret}1, ${secret}2]\n`,
        {
          KINORA_WEBHOOK_SENDS: "0",
          KINORA_WEBHOOK_OWN_ADDRESSES: "false",
          KINORA_WEBHOOK_ALLOWED_NETWORKS: "10.20.0.0/16,fd00:20::1",
          KINORA_WEBHOOK_ALLOW_PRIVATE: "true"
        }
      )
      assert.deepStrictEqual(settings.webhookKeys.map(Redacted.value), [`${secret}1`, `${secret}2`])
      assert.deepInclude(settings, {
        webhookSends: 0,
        webhookOwnDomains: ["example.com", "example.net"],
        webhookOwnAddresses: false,
        webhookAllowedNetworks: ["10.20.0.0/16", "fd00:20::1"],
        webhookAllowPrivate: true
      })
    }))

  it.effect("rejects invalid settings of webhooks without repeating their keys", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(Settings.load({
        KINORA_WEBHOOK_KEYS: `${secret},hunter2`,
        KINORA_WEBHOOK_SENDS: "4097",
        KINORA_WEBHOOK_OWN_DOMAINS: "example.com,https://example.net",
        KINORA_WEBHOOK_ALLOWED_NETWORKS: "10.20.0.1/16",
        KINORA_WEBHOOK_ALLOW_PRIVATE: "yes"
      }))
      assert.deepStrictEqual(error.message.split("\n"), [
        "KINORA_WEBHOOK_KEYS is not valid; expected secrets of at least 32 characters, separated by commas",
        `KINORA_WEBHOOK_SENDS is "4097"; expected a number of sends from 0 to 4096`,
        `KINORA_WEBHOOK_OWN_DOMAINS is "example.com,https://example.net"; ` +
        "expected host names such as example.com, separated by commas, without scheme, port or path",
        `KINORA_WEBHOOK_ALLOWED_NETWORKS is "10.20.0.1/16"; ` +
        "expected networks such as 10.20.0.0/16, or addresses, separated by commas",
        `KINORA_WEBHOOK_ALLOW_PRIVATE is "yes"; expected true or false`
      ])
      for (
        const domains of [
          "",
          " ",
          "a b",
          "example.com:8443",
          "*.example.com",
          "example.com/hooks",
          "u@example.com",
          "[::1]"
        ]
      ) {
        const loading = loadWith(`webhook_own_domains: [example.com, ${JSON.stringify(domains)}]\n`)
        assert.strictEqual((yield* Effect.flip(loading)).problems.length, 1, domains)
      }
    }))

  it.effect("rejects values that would disable a limit and invalid networks", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(Settings.load({
        KINORA_ADMIN_TOKEN: "short",
        KINORA_TRUSTED_PROXIES: "10.0.0.0/8, proxy.internal",
        KINORA_DEMO_ACCOUNT: "no",
        KINORA_IMAGE_WAIT_SECONDS: "120",
        KINORA_RESULTS_TTL_HOURS: "0",
        KINORA_DOWNLOAD_GIB_PER_DAY: "1.5"
      }))
      assert.deepStrictEqual(error.problems.map(({ where }) => where), [
        "KINORA_TRUSTED_PROXIES",
        "KINORA_ADMIN_TOKEN",
        "KINORA_DEMO_ACCOUNT",
        "KINORA_RESULTS_TTL_HOURS",
        "KINORA_DOWNLOAD_GIB_PER_DAY",
        "KINORA_IMAGE_WAIT_SECONDS"
      ])
    }))

  it.effect("merges the plans of the file into the default plan table", () =>
    Effect.gen(function*() {
      const { planTable } = yield* loadWith(
        "plans:\n  period_days: 31\n  studio:\n    pro:\n      price_cents: 3500\n      quota: { images: 250 }\n"
      )
      const { pro, ...others } = PlanTable.defaults.studio
      const quota = { images: 250, videos: 20 }
      assert.deepStrictEqual(planTable, {
        ...PlanTable.defaults,
        periodDays: 31,
        studio: { ...others, pro: { ...pro, priceCents: 3500, quota } }
      })
    }))

  it.effect("reports every problem of the plans with its path and rejects unknown tiers", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(
        loadWith("plans:\n  studio: { gold: {}, pro: { concurrency: 0 } }\n  credits: { pro: { createRpm: 1 } }\n")
      )
      assert.deepStrictEqual(error.problems.map(({ where }) => where.split(": ")[1]), [
        "plans.studio.gold",
        "plans.studio.pro.concurrency",
        "plans.credits.pro.createRpm"
      ])
      const list = yield* Effect.flip(loadWith("plans: [pro]\n"))
      assert.match(list.message, /config\.yaml: plans is not valid: /)
    }))

  it.effect("rejects several processes that cannot share the database or a port", () =>
    Effect.gen(function*() {
      const problemOf = Effect.fnUntraced(function*(environment: Readonly<Record<string, string>>) {
        return (yield* Effect.flip(Settings.load({ KINORA_PROCESSES: "3", ...environment }))).message
      })
      const KINORA_DATABASE_URL = "postgres://user@host/db"
      assert.deepStrictEqual([
        yield* problemOf({}),
        yield* problemOf({ KINORA_DATABASE_URL, KINORA_PORT: "4750" }),
        yield* problemOf({ KINORA_DATABASE_URL, KINORA_ADMIN_PORT: "65534" })
      ], [
        "KINORA_PROCESSES needs KINORA_DATABASE_URL: one process at a time can open the embedded database",
        "KINORA_ADMIN_PORT must leave out KINORA_PORT: the processes listen on the ports 4748 to 4750 for operators",
        "KINORA_ADMIN_PORT must be at most 65533: each process listens on the next port"
      ])
      const { processes } = yield* Settings.load({ KINORA_DATABASE_URL, KINORA_PROCESSES: "3", KINORA_PORT: "4751" })
      assert.strictEqual(processes, 3)
    }))

  it.effect("reports all invalid values with their sources", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(loadWith("log_level: loud\n", { KINORA_PORT: "99999", KINORA_WORKERS: "many" }))
      const lines = error.message.split("\n")
      assert.strictEqual(lines.length, 3)
      assert.include(lines, `KINORA_PORT is "99999"; expected a port from 0 to 65535`)
      assert.include(lines, `KINORA_WORKERS is "many"; expected a number of jobs from 0 to 256`)
      assert.match(error.message, /config\.yaml: log_level is "loud"; expected one of trace, debug, info/)
    }))

  it.effect("rejects unknown settings", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(
        loadWith("prot: 80\nwebhook_timeout_milliseconds: 1\n", { KINORA_PROT: "80", KINORA_GALAXY_BRIGHTNESS: "1" })
      )
      assert.deepStrictEqual(error.message.replaceAll(/^\S*config\.yaml/gm, "config.yaml").split("\n"), [
        "KINORA_PROT is not a setting; did you mean KINORA_PORT?",
        "KINORA_GALAXY_BRIGHTNESS is not a setting; `kinora config schema` describes all settings",
        "config.yaml: prot is not a setting; did you mean port?",
        "config.yaml: webhook_timeout_milliseconds is not a setting; `kinora config schema` describes all settings"
      ])
    }))

  it.effect("never repeats a secret", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(
        Settings.load({
          KINORA_ADMIN_TOKEN: "shorter",
          KINORA_DATABASE_URL: "mysql://user:hunter2@host/db",
          KINORA_URL_SIGNING_KEYS: "short"
        })
      )
      assert.strictEqual(error.problems.length, 3)
      assert.notMatch(error.message, /hunter2|short/)
    }))

  it.effect("fails if the named file does not exist or is not a mapping", () =>
    Effect.gen(function*() {
      const missing = yield* Effect.flip(Settings.load({ KINORA_CONFIG: "nowhere/config.yaml" }))
      assert.strictEqual(missing.message, "nowhere/config.yaml does not exist")
      assert.match((yield* Effect.flip(loadWith("- a list\n"))).message, /must be a mapping of settings$/)
      assert.match((yield* Effect.flip(loadWith("host: [\n"))).message, /is not YAML: /)
    }))

  it.effect("documents every setting", () =>
    Effect.sync(() => {
      for (const { about, variable } of Settings.docs) {
        assert.match(variable, /^KINORA_[A-Z_]+$/)
        assert.isAbove(about.length, 10)
      }
    }))
})

it.effect("the header of a proxy needs trusted proxies, and is not one of HTTP itself", () =>
  Effect.gen(function*() {
    const proxies = { KINORA_TRUSTED_PROXIES: "10.0.0.0/8" }
    const load = (header: string, environment = {}) =>
      Settings.load({ ...environment, KINORA_PROXY_USER_HEADER: header })
    assert.strictEqual((yield* load("X-Forwarded-Email", proxies)).proxyUserHeader, "x-forwarded-email")
    const { message } = yield* Effect.flip(load("X-Forwarded-Email"))
    assert.strictEqual(message, "KINORA_PROXY_USER_HEADER needs KINORA_TRUSTED_PROXIES")
    for (const header of ["Host", "cookie", "From", "X-Forwarded-For", "x user", "x:user", "X-Request-Id"]) {
      assert.include((yield* Effect.flip(load(header, proxies))).message, "expected the name of a header")
    }
  }))
