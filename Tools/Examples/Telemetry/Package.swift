// swift-tools-version: 6.2
import PackageDescription

// A package of its own, as a service is: it depends on logstore from outside, and nothing else has to build Hummingbird.
//
// Only a checkout of logstore names a plug-in with the macros, by `Tools/swift`; your package needs no such setting.
let macroPlugin = Context.environment["LOGSTORE_MACRO_PLUGIN"]
let macroSettings: [SwiftSetting] =
  macroPlugin.map { [.unsafeFlags(["-load-plugin-library", $0])] } ?? []

let package = Package(
  name: "Telemetry",
  platforms: [.macOS(.v26)],
  dependencies: [
    .package(name: "logstore", path: "../../.."),
    // Without its support for configuration files, which nothing here reads.
    .package(
      url: "https://github.com/hummingbird-project/hummingbird.git",
      from: "2.20.0",
      traits: ["FullFoundation"]
    ),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.8.0"),
    .package(url: "https://github.com/apple/swift-http-types.git", from: "1.3.0"),
    .package(url: "https://github.com/apple/swift-log.git", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-nio.git", from: "2.80.0"),
  ],
  targets: [
    .executableTarget(
      name: "Telemetry",
      dependencies: [
        .product(name: "SwiftData", package: "logstore"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Sources",
      swiftSettings: macroSettings
    ),
    .testTarget(
      name: "TelemetryTests",
      dependencies: [
        "Telemetry",
        .product(name: "NIOEmbedded", package: "swift-nio"),
        .product(name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle"),
      ],
      path: "Tests",
      swiftSettings: macroSettings
    ),
  ],
  swiftLanguageModes: [.v6]
)
