export * as AddressGuard from "./AddressGuard.ts"
