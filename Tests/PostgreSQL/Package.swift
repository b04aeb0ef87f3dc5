// swift-tools-version: 6.2
import PackageDescription

// A package of its own, which depends on the store as a program does that wants its trait: nobody else has to have
// libpq. `Tools/test` runs it where there is a server to be started.
let macroPlugin = Context.environment["LOGSTORE_MACRO_PLUGIN"]

let settings: [SwiftSetting] =
  [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
  ] + (macroPlugin.map { [.unsafeFlags(["-load-plugin-library", $0])] } ?? [])

let package = Package(
  name: "PostgreSQL",
  platforms: [.macOS(.v15)],
  dependencies: [
    // The same traits as those of Tests/Observability: so both are served by one build of the library.
    .package(
      name: "logstore",
      path: "../..",
      traits: ["Logging", "Metrics", "PostgreSQL", "ServiceLifecycle", "Tracing"]
    ),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
  ],
  targets: [
    // The sources of the target that asks stores random questions, but for what opens a log: links to them.
    .target(
      name: "StoreDifferential",
      dependencies: [.product(name: "ModelRuntime", package: "logstore")],
      path: "QueryDifferential",
      swiftSettings: settings
    ),
    // A second process, for tests of what processes do to each other.
    .executableTarget(
      name: "Appender",
      dependencies: [
        .product(name: "ModelRuntime", package: "logstore"),
        .product(name: "PostgresStore", package: "logstore"),
      ],
      path: "Appender",
      swiftSettings: settings
    ),
    // An app that writes without a pause to the flights of `SampleTrips`; `move-flights` moves them meanwhile.
    .executableTarget(
      name: "FlightWriter",
      dependencies: [
        .product(name: "PostgresStore", package: "logstore"),
        .product(name: "SwiftData", package: "logstore"),
      ],
      path: "FlightWriter",
      swiftSettings: settings
    ),
    // What stands between a store and its server, and cuts, delays and splits what passes.
    .target(name: "FaultProxy", path: "FaultProxy", swiftSettings: settings),
    // The campaigns of faults: a program, of which the tests run short forms.
    .executableTarget(
      name: "PostgresFaults",
      dependencies: [
        "FaultProxy",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "ModelRuntime", package: "logstore"),
        .product(name: "PostgresStore", package: "logstore"),
      ],
      path: "Faults",
      swiftSettings: settings
    ),
    .testTarget(
      name: "PostgresStoreTests",
      dependencies: [
        "StoreDifferential",
        "Appender",
        "FaultProxy",
        "PostgresFaults",
        .product(name: "DataStoreTesting", package: "logstore"),
        .product(name: "ModelRuntime", package: "logstore"),
        .product(name: "PostgresStore", package: "logstore"),
        .product(name: "LogStore", package: "logstore"),
        // Programs that its tests run.
        .product(name: "SampleTrips", package: "logstore"),
        .product(name: "logstore-inspect", package: "logstore"),
      ],
      path: "Tests",
      exclude: ["Fixtures"],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
