/** Loads what a key stands for when it is first asked for, and remembers it; what failed is loaded anew. */
export const loadedOnce = <T>(load: (key: string) => Promise<T>): ((key: string) => Promise<T>) => {
  const loaded = new Map<string, Promise<T>>();
  const loadNow = async (key: string): Promise<T> => {
    try {
      return await load(key);
    } catch (error) {
      loaded.delete(key);
      throw error;
    }
  };
  return (key) => {
    const loading = loaded.get(key) ?? loadNow(key);
    loaded.set(key, loading);
    return loading;
  };
};
