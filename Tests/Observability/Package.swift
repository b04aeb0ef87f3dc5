// swift-tools-version: 6.2
import PackageDescription

// A package of its own, which depends on the store as a program does that wants its traits: so they are
// tested as they are used, and nothing is built for it twice that has no part in them. `Tools/test` runs it.
let macroPlugin = Context.environment["LOGSTORE_MACRO_PLUGIN"]

let package = Package(
  name: "Observability",
  platforms: [.macOS(.v15)],
  dependencies: [
    // The same traits as those of Tests/PostgreSQL: so both are served by one build of the library.
    .package(
      name: "logstore",
      path: "../..",
      traits: ["Logging", "Metrics", "PostgreSQL", "ServiceLifecycle", "Tracing"]
    ),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.2.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.4.0"),
  ],
  targets: [
    .testTarget(
      name: "ObservabilityTests",
      dependencies: [
        .product(name: "LogEngine", package: "logstore"),
        .product(name: "LogEngineObservability", package: "logstore"),
        .product(name: "SwiftData", package: "logstore"),
        .product(name: "InMemoryLogging", package: "swift-log"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "MetricsTestKit", package: "swift-metrics"),
        .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
        .product(name: "Tracing", package: "swift-distributed-tracing"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      path: "Tests",
      swiftSettings: [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
      ] + (macroPlugin.map { [.unsafeFlags(["-load-plugin-library", $0])] } ?? [])
    )
  ],
  swiftLanguageModes: [.v6]
)
