export * as OidcOptions from "./OidcOptions.ts"
export * as OidcProviders from "./OidcProviders.ts"
