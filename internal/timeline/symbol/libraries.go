package symbol

import (
	"slices"
	"strings"
)

// jvmLibrary reports whether a class name, with its package, belongs to a library that services bring along. A
// demonstration service that comes with a library does not count.
func jvmLibrary(name string) bool {
	i, found := slices.BinarySearch(jvmLibraries, name)
	return found || i > 0 && strings.HasPrefix(name, jvmLibraries[i-1]) && !shows(name)
}

// shows reports whether a class is in a package of examples.
func shows(name string) bool {
	return containsAny(name, []string{".sample.", ".samples.", ".example.", ".examples.", ".demo."})
}

// jvmLibraries are the prefixes of the names of classes that services bring along: JVM frames have no path. They are
// sorted, and none is a prefix of another.
var jvmLibraries = []string{
	"akka.", "antlr.", "brave.", "cats.", "ch.qos.", "clojure.", "co.elastic.", "com.alibaba.druid.", "com.alibaba.fastjson.", "com.amazonaws.", "com.auth0.jwt.",
	"com.azure.", "com.clickhouse.", "com.codahale.", "com.couchbase.", "com.datastax.", "com.esotericsoftware.", "com.fasterxml.", "com.github.benmanes.",
	"com.github.luben.", "com.google.", "com.hazelcast.", "com.ibm.db2.", "com.jayway.", "com.lmax.", "com.mchange.", "com.microsoft.azure.",
	"com.microsoft.sqlserver.", "com.mongodb.", "com.mysql.", "com.netflix.", "com.newrelic.", "com.nimbusds.", "com.rabbitmq.", "com.sap.db.", "com.squareup.",
	"com.thoughtworks.xstream.", "com.twitter.", "com.typesafe.", "com.yammer.", "com.zaxxer.", "datadog.", "dev.failsafe.", "dev.langchain4j.", "feign.",
	"freemarker.", "groovy.", "io.agroal.", "io.dropwizard.", "io.github.resilience4j.", "io.grpc.", "io.helidon.", "io.jaegertracing.", "io.javalin.",
	"io.jsonwebtoken.", "io.ktor.", "io.lettuce.", "io.micrometer.", "io.micronaut.", "io.minio.", "io.nats.", "io.netty.", "io.opencensus.", "io.opentelemetry.",
	"io.opentracing.", "io.projectreactor.", "io.prometheus.", "io.quarkus.", "io.r2dbc.", "io.ratpack.", "io.reactivex.", "io.sentry.", "io.smallrye.", "io.swagger.",
	"io.undertow.", "io.vertx.", "jakarta.", "javassist.", "jersey.", "jodd.", "kotlin.", "kotlinx.", "liquibase.", "lombok.", "net.bytebuddy.", "net.jodah.",
	"net.jpountz.", "net.rubyeye.", "net.sf.", "net.spy.", "okhttp3.", "okio.", "oracle.", "org.apache.", "org.aspectj.", "org.asynchttpclient.", "org.bouncycastle.",
	"org.bson.", "org.codehaus.", "org.conscrypt.", "org.duckdb.", "org.eclipse.", "org.ehcache.", "org.elasticsearch.", "org.flywaydb.", "org.glassfish.", "org.h2.",
	"org.hibernate.", "org.hsqldb.", "org.http4s.", "org.infinispan.", "org.jboss.", "org.jctools.", "org.jdbi.", "org.jgroups.", "org.joda.", "org.jooq.",
	"org.json.", "org.junit.", "org.jvnet.", "org.lz4.", "org.mariadb.", "org.mockito.", "org.mongodb.", "org.mybatis.", "org.neo4j.", "org.objectweb.",
	"org.openjdk.", "org.opensearch.", "org.postgresql.", "org.quartz.", "org.reactivestreams.", "org.redisson.", "org.scalatra.", "org.slf4j.",
	"org.springframework.", "org.sqlite.", "org.thymeleaf.", "org.typelevel.", "org.wildfly.", "org.xerial.", "org.xnio.", "org.yaml.", "org.zeromq.", "play.api.",
	"play.core.", "play.mvc.", "ratpack.", "reactor.", "redis.clients.", "retrofit2.", "rx.", "scala.", "software.amazon.", "spark.embeddedserver.", "spark.http.",
	"zio.", "zipkin2.",
}
