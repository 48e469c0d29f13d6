package prices;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import net.sf.ehcache.Cache;
import net.sf.ehcache.CacheManager;
import net.sf.ehcache.Element;
import net.sf.ehcache.config.CacheConfiguration;
import net.sf.ehcache.config.Configuration;
import net.sf.ehcache.store.MemoryStoreEvictionPolicy;

/** Prices in the heap; what is missing comes from the store. */
final class PriceCache {
  /** SKUs below POPULAR fit into the cache, the COLD ones after them do not. */
  static final int POPULAR = 1000;
  static final int COLD = 4000;

  private final Store store;
  private final Cache cache;

  PriceCache(Store store) {
    this.store = store;
    CacheConfiguration prices = new CacheConfiguration("prices", POPULAR + 50)
        .eternal(true)
        .memoryStoreEvictionPolicy(MemoryStoreEvictionPolicy.LFU);
    Configuration configuration = new Configuration().name("prices").cache(prices);
    configuration.setUpdateCheck(false);
    cache = new CacheManager(configuration).getCache("prices");
  }

  /** Loads the popular SKUs, as if they had been asked for often. */
  void warm() {
    List<String> skus = new ArrayList<>();
    for (int sku = 0; sku < POPULAR; sku++) {
      skus.add(String.valueOf(sku));
    }
    for (Map.Entry<String, String> price : store.batch(skus).entrySet()) {
      cache.put(new Element(price.getKey(), price.getValue()));
    }
    for (int times = 0; times < 20; times++) {
      skus.forEach(cache::get);
    }
  }

  Map<String, String> prices(List<String> skus) {
    Map<String, String> prices = new LinkedHashMap<>();
    List<String> missing = new ArrayList<>();
    for (String sku : skus) {
      Element element = cache.get(sku);
      prices.put(sku, element == null ? null : (String) element.getObjectValue());
      if (element == null && !missing.contains(sku)) {
        missing.add(sku);
      }
    }
    if (!missing.isEmpty()) {
      store.fetch(missing).forEach((sku, price) -> {
        cache.put(new Element(sku, price));
        prices.put(sku, price);
      });
    }
    return prices;
  }
}
