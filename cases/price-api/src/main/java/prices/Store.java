package prices;

import com.amazonaws.ClientConfiguration;
import com.amazonaws.auth.BasicAWSCredentials;
import com.amazonaws.services.dynamodbv2.AmazonDynamoDB;
import com.amazonaws.services.dynamodbv2.AmazonDynamoDBClient;
import com.amazonaws.services.dynamodbv2.model.AttributeValue;
import com.amazonaws.services.dynamodbv2.model.GetItemRequest;
import com.amazonaws.services.dynamodbv2.model.KeysAndAttributes;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

/** Reads prices from DynamoDB, on threads of its own. */
final class Store {
  private static final String TABLE = "prices";
  private static final int MOST_PER_BATCH = 100;

  private final AmazonDynamoDB dynamo;
  private final ExecutorService executor;
  private final boolean batching;

  private Store(AmazonDynamoDB dynamo, int threads, boolean batching) {
    this.dynamo = dynamo;
    this.batching = batching;
    AtomicInteger number = new AtomicInteger();
    executor = Executors.newFixedThreadPool(threads, task -> {
      Thread thread = new Thread(task, "pricing-" + number.incrementAndGet());
      thread.setDaemon(true);
      return thread;
    });
  }

  /** The fixes of the incident that are options: METADATA_CACHE=0 and BATCH=1. */
  static Store fromEnvironment() {
    int threads = PriceApi.number("STORE_THREADS", 8);
    ClientConfiguration configuration = new ClientConfiguration()
        .withMaxConnections(threads)
        .withMaxErrorRetry(0)
        .withCacheResponseMetadata(PriceApi.number("METADATA_CACHE", 1) == 1);
    configuration.setResponseMetadataCacheSize(PriceApi.number("METADATA_CACHE_SIZE", 50));
    AmazonDynamoDBClient client =
        new AmazonDynamoDBClient(new BasicAWSCredentials("local", "local"), configuration);
    client.setEndpoint(System.getenv("DYNAMODB"));
    return new Store(client, threads, PriceApi.number("BATCH", 0) == 1);
  }

  /** Prices by SKU: a call for each of them, or one for all. */
  Map<String, String> fetch(List<String> skus) {
    List<Future<Map<String, String>>> calls = new ArrayList<>();
    if (batching) {
      calls.add(executor.submit(() -> batch(skus)));
    } else {
      for (String sku : skus) {
        calls.add(executor.submit(() -> Map.of(sku, get(sku))));
      }
    }
    Map<String, String> prices = new LinkedHashMap<>();
    try {
      for (Future<Map<String, String>> call : calls) {
        prices.putAll(call.get());
      }
    } catch (ExecutionException | InterruptedException e) {
      throw new IllegalStateException("reading prices", e);
    }
    return prices;
  }

  private String get(String sku) {
    return dynamo.getItem(new GetItemRequest(TABLE, key(sku))).getItem().get("price").getN();
  }

  /** Prices by SKU, with as few calls as there can be. */
  Map<String, String> batch(List<String> skus) {
    Map<String, String> prices = new HashMap<>();
    for (int from = 0; from < skus.size(); from += MOST_PER_BATCH) {
      List<Map<String, AttributeValue>> keys = new ArrayList<>();
      skus.subList(from, Math.min(from + MOST_PER_BATCH, skus.size())).forEach(sku -> keys.add(key(sku)));
      dynamo.batchGetItem(Map.of(TABLE, new KeysAndAttributes().withKeys(keys)))
          .getResponses().get(TABLE)
          .forEach(item -> prices.put(item.get("sku").getS(), item.get("price").getN()));
    }
    return prices;
  }

  private static Map<String, AttributeValue> key(String sku) {
    return Map.of("sku", new AttributeValue(sku));
  }
}
